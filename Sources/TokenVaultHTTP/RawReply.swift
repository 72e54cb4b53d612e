import HTTPTypes
import OAuthClient

/// The received part of a reply, read leniently in parallel with the parser: a reply that the parser rejects may hold
/// the only copy of a token, and anything after a complete body is ignored.
struct RawReply {
    /// The maximum length of the body that is kept.
    static let mostBody = 65_536
    private static let mostHead = 131_072

    private enum State {
        case head
        /// Until this many bytes have arrived; nil until the connection ends.
        case plain(left: Int?)
        case chunkSize
        case chunk(left: Int)
        case chunkEnd
        /// The zero chunk has arrived. Trailer fields, if any, mean nothing.
        case whole
        /// The framing of the rest is lost.
        case broken
    }

    private var state = State.head
    /// A line of the head, or the line with a chunk's size.
    private var line: [UInt8] = []
    private var fields: [String: String] = [:]
    private(set) var status: Int?
    private(set) var body: [UInt8] = []
    /// The length of the body, including bytes that are not kept.
    private(set) var bodyCount = 0

    /// The zero chunk of a chunked body has arrived.
    var isWholeInChunks: Bool { if case .whole = state { true } else { false } }

    /// No more bytes that would be kept can arrive.
    var isComplete: Bool {
        switch state {
        case .whole: true
        case .plain(left: let left?): left <= 0 || body.count >= Self.mostBody
        case .plain(left: nil), .chunkSize, .chunk, .chunkEnd, .broken: body.count >= Self.mostBody
        case .head: line.count >= Self.mostHead
        }
    }

    /// The part that may be worth keeping; nil before the end of the head.
    var reply: HTTPReply? {
        guard let status, (100...999).contains(status) else { return nil }
        var kept = HTTPFields()
        kept[.contentType] = fields["content-type"]
        return HTTPReply(response: HTTPResponse(status: .init(code: status), headerFields: kept), body: body)
    }

    mutating func read(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            switch state {
            case .head: readHead(&rest)
            case .plain(let left):
                let count = min(left ?? rest.count, rest.count)
                guard count > 0 else { return }
                keep(rest.prefix(count))
                rest = rest.dropFirst(count)
                state = .plain(left: left.map { $0 - count })
            case .chunk(let left):
                let count = min(left, rest.count)
                keep(rest.prefix(count))
                rest = rest.dropFirst(count)
                state = count < left ? .chunk(left: left - count) : .chunkEnd
            case .chunkEnd, .chunkSize: readLine(&rest)
            case .broken:
                keep(rest)
                return
            case .whole: return
            }
        }
    }

    private mutating func keep(_ bytes: ArraySlice<UInt8>) {
        bodyCount += bytes.count
        body.append(contentsOf: bytes.prefix(Self.mostBody - body.count))
    }

    private mutating func readHead(_ rest: inout ArraySlice<UInt8>) {
        while let byte = rest.first {
            guard line.count < Self.mostHead else {
                rest = []
                return
            }
            line.append(byte)
            rest = rest.dropFirst()
            guard line.suffix(4).elementsEqual("\r\n\r\n".utf8) else { continue }
            headEnded()
            return
        }
    }

    private mutating func headEnded() {
        let lines = String(decoding: line, as: UTF8.self).split(separator: "\r\n")
        line = []
        fields = [:]
        let code = lines.first?.split(separator: " ").dropFirst().first.flatMap { Int($0) }
        // Another head follows an informational one.
        if let code, (100...199).contains(code) { return }
        status = code ?? 0
        var isContradictory = false
        for field in lines.dropFirst() {
            let parts = field.split(separator: ":", maxSplits: 1)
            guard parts.count == 2 else { continue }
            let name = parts[0].lowercased()
            let value = parts[1].trimmingSpaces
            if let known = fields[name], known != value, name == "content-length" { isContradictory = true }
            fields[name] = value
        }
        let coding = fields["transfer-encoding"]?.lowercased()
        let length = fields["content-length"].flatMap { Int($0) }.flatMap { $0 >= 0 ? $0 : nil }
        if isContradictory || coding != nil && length != nil {
            state = .plain(left: nil)
        } else if coding == "chunked" {
            state = .chunkSize
        } else {
            state = .plain(left: coding == nil ? length : nil)
        }
    }

    /// Reads the line before a chunk, or the empty one after it.
    private mutating func readLine(_ rest: inout ArraySlice<UInt8>) {
        while let byte = rest.first {
            line.append(byte)
            rest = rest.dropFirst()
            guard byte == UInt8(ascii: "\n") else {
                guard line.count < 1_024 else { return breakOff() }
                continue
            }
            lineEnded()
            return
        }
    }

    private mutating func lineEnded() {
        guard line.suffix(2).elementsEqual("\r\n".utf8) else { return breakOff() }
        let text = String(decoding: line.dropLast(2), as: UTF8.self)
        if case .chunkEnd = state {
            guard text.isEmpty else { return breakOff() }
            (state, line) = (.chunkSize, [])
            return
        }
        let digits = text.prefix { $0 != ";" && $0 != " " }
        guard let size = Int(digits, radix: 16), size >= 0, digits.allSatisfy(\.isHexDigit) else { return breakOff() }
        (state, line) = (size == 0 ? .whole : .chunk(left: size), [])
    }

    /// No chunk begins here: the rest may still belong to the body.
    private mutating func breakOff() {
        state = .broken
        let rest = line
        line = []
        keep(rest[...])
    }
}

extension Substring {
    fileprivate var trimmingSpaces: String {
        var text = self
        while let first = text.first, first == " " || first == "\t" { text.removeFirst() }
        while let last = text.last, last == " " || last == "\t" { text.removeLast() }
        return String(text)
    }
}
