import OAuthClient

/// The entries of a document whose members are maps: `{"Section": {"key": {…}, …}, …}`. Only one entry is in memory at
/// a time.
final class JSONEntries {
    struct Entry {
        let section: String
        /// Nil if the entry is not an object, or is too long.
        let object: JSONObject?
    }

    private let stream: ByteStream
    private let limits: ImportLimits
    private var section = ""
    private var state = State.start
    private var byteCount = 0

    private enum State { case start, sections, entries, ended }

    init(_ stream: ByteStream, _ limits: ImportLimits) {
        self.stream = stream
        self.limits = limits
        stream.skipByteOrderMark()
    }

    /// Nil at the end.
    func next() throws(ImportError) -> Entry? {
        while true {
            switch state {
            case .ended: return nil
            case .start:
                try take(UInt8(ascii: "{"))
                state = try takeIfNext(UInt8(ascii: "}")) ? .ended : .sections
            case .sections:
                section = try name()
                try take(UInt8(ascii: ":"))
                if try nextByte() == UInt8(ascii: "{") {
                    try take(UInt8(ascii: "{"))
                    state = .entries
                    if try takeIfNext(UInt8(ascii: "}")) { try endSection() }
                } else {
                    _ = try value()
                    try endSection()
                }
            case .entries:
                _ = try name()
                try take(UInt8(ascii: ":"))
                let bytes = try value()
                if try !takeIfNext(UInt8(ascii: ",")) {
                    try take(UInt8(ascii: "}"))
                    try endSection()
                }
                return Entry(section: section, object: bytes.flatMap { try? JSONObject(document: $0) })
            }
        }
    }

    private func endSection() throws(ImportError) {
        state = .sections
        guard try !takeIfNext(UInt8(ascii: ",")) else { return }
        try take(UInt8(ascii: "}"))
        state = .ended
        guard try nextByte() == nil else { throw damaged }
    }

    /// A string, unescaped only as far as names of sections need it.
    private func name() throws(ImportError) -> String {
        guard try nextByte() == UInt8(ascii: "\""), let bytes = try value(),
            case .string(let text)? = (try? JSONObject(document: Array("{\"v\":".utf8) + bytes + Array("}".utf8)))?["v"]
        else { throw damaged }
        return text
    }

    /// The bytes of one value; nil if they exceed the length of a record.
    private func value() throws(ImportError) -> [UInt8]? {
        guard let first = try nextByte() else { throw damaged }
        var bytes: [UInt8] = []
        var isTooLong = false
        var depth = 0
        var isInString = false
        var isEscaped = false
        while let byte = stream.peek() {
            if !isInString, depth == 0, !bytes.isEmpty || isTooLong {
                let isScalar = first != UInt8(ascii: "{") && first != UInt8(ascii: "[") && first != UInt8(ascii: "\"")
                if !isScalar || Self.endsScalar(byte) { break }
            }
            try count()
            _ = stream.next()
            if bytes.count >= limits.recordBytes {
                isTooLong = true
                bytes = []
            }
            if !isTooLong { bytes.append(byte) }
            if isInString {
                isInString = isEscaped || byte != UInt8(ascii: "\"")
                isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
            } else if byte == UInt8(ascii: "\"") {
                isInString = true
            } else if byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[") {
                depth += 1
            } else if byte == UInt8(ascii: "}") || byte == UInt8(ascii: "]") {
                depth -= 1
            }
        }
        try stream.check()
        guard depth == 0, !isInString, !bytes.isEmpty || isTooLong else { throw damaged }
        return isTooLong ? nil : bytes
    }

    private static func endsScalar(_ byte: UInt8) -> Bool {
        byte <= 0x20 || byte == UInt8(ascii: ",") || byte == UInt8(ascii: "}") || byte == UInt8(ascii: "]")
    }

    private func nextByte() throws(ImportError) -> UInt8? {
        while let byte = stream.peek() {
            guard byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D else { return byte }
            try count()
            _ = stream.next()
        }
        try stream.check()
        return nil
    }

    private func take(_ byte: UInt8) throws(ImportError) {
        guard try takeIfNext(byte) else { throw damaged }
    }

    private func takeIfNext(_ byte: UInt8) throws(ImportError) -> Bool {
        guard try nextByte() == byte else { return false }
        try count()
        _ = stream.next()
        return true
    }

    private func count() throws(ImportError) {
        byteCount += 1
        guard byteCount <= limits.documentBytes else {
            throw ImportError(
                .unknownFormat, "the document is longer than \(limits.documentBytes) bytes",
                hint: "raise the limit, if the machine has the memory: it is read as a whole")
        }
    }

    private var damaged: ImportError {
        ImportError(.damagedSource, "line \(stream.line) of the document is not JSON")
    }
}
