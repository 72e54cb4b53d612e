/// Converts UTF-16 to UTF-8. Invalid UTF-16 becomes invalid UTF-8, so that its record is rejected.
final class UTF16Bytes: ByteSource {
    private let encoded: any ByteSource
    private let isBigEndian: Bool
    private var input = [UInt8](repeating: 0, count: 64 * 1_024)
    /// Leftover bytes at the start of the input.
    private var kept = 0
    private var highSurrogate: UInt16?
    private var output: ArraySlice<UInt8> = []
    private var isAtStart = true
    private var isAtEnd = false

    init(_ encoded: any ByteSource, isBigEndian: Bool) {
        self.encoded = encoded
        self.isBigEndian = isBigEndian
    }

    /// Whether a text is UTF-16, and its byte order, judged by its mark or by the zeros of its first two letters.
    static func isBigEndian(_ head: ArraySlice<UInt8>) -> Bool? {
        let bytes = Array(head.prefix(4))
        // UTF-32 also begins this way.
        if bytes == [0xFF, 0xFE, 0, 0] { return nil }
        if bytes.starts(with: [0xFE, 0xFF]) { return true }
        if bytes.starts(with: [0xFF, 0xFE]) { return false }
        guard bytes.count == 4 else { return nil }
        switch (bytes[0] == 0, bytes[1] == 0, bytes[2] == 0, bytes[3] == 0) {
        case (true, false, true, false): return true
        case (false, true, false, true): return false
        default: return nil
        }
    }

    func read(into buffer: inout [UInt8], from offset: Int) throws(ImportError) -> Int {
        while output.isEmpty {
            guard !isAtEnd else { return 0 }
            try decode()
        }
        let piece = output.prefix(buffer.count - offset)
        buffer.replaceSubrange(offset..<offset + piece.count, with: piece)
        output = output.dropFirst(piece.count)
        return piece.count
    }

    private func decode() throws(ImportError) {
        let count = try encoded.read(into: &input, from: kept)
        let end = kept + count
        var text: [UInt8] = []
        text.reserveCapacity(end * 3 / 2)
        for index in stride(from: 0, to: end - 1, by: 2) {
            let (first, second) = (UInt16(input[index]), UInt16(input[index + 1]))
            take(isBigEndian ? first << 8 | second : second << 8 | first, &text)
        }
        kept = end % 2
        if kept > 0 { input[0] = input[end - 1] }
        if count == 0 {
            isAtEnd = true
            if kept > 0 || highSurrogate != nil { text.append(0xFF) }
        }
        output = text[...]
    }

    private func take(_ unit: UInt16, _ text: inout [UInt8]) {
        defer { isAtStart = false }
        if isAtStart, unit == 0xFEFF { return }
        if let high = highSurrogate {
            highSurrogate = nil
            if UTF16.isTrailSurrogate(unit) {
                let value = 0x10000 + UInt32(high - 0xD800) << 10 + UInt32(unit - 0xDC00)
                if let scalar = Unicode.Scalar(value) { text.append(contentsOf: UTF8.encode(scalar) ?? .init()) }
                return
            }
            text.append(0xFF)
        }
        if UTF16.isLeadSurrogate(unit) {
            highSurrogate = unit
        } else if let scalar = Unicode.Scalar(unit) {
            if scalar.isASCII {
                text.append(UInt8(unit))
            } else {
                text.append(contentsOf: UTF8.encode(scalar) ?? .init())
            }
        } else {
            text.append(0xFF)
        }
    }
}
