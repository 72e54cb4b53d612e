/// Reads a tagged binary record in place. Returned values point into the caller's buffer.
///
/// Anything that `RecordWriter` would not write is an error: a tag that does not ascend (including a repeated field), a
/// length that is not minimal or exceeds the buffer, bytes that are not a field.
package struct RecordReader {
    private var cursor: RecordCursor
    private var lastTag: UInt8 = 0

    package init(_ bytes: UnsafeRawBufferPointer) {
        unsafe cursor = RecordCursor(bytes)
    }

    /// The next field, or `nil` after the last one.
    package mutating func next() throws(VaultCryptoError) -> RecordField? {
        guard let tag = cursor.byte() else { return nil }
        guard tag > lastTag else {
            throw VaultCryptoError(.malformedRecord, "a record's fields are out of order or repeated")
        }
        lastTag = tag
        return unsafe RecordField(tag: tag, bytes: try cursor.lengthPrefixedBytes())
    }
}

/// Iterates over the elements of a list field.
package struct RecordElements {
    private var cursor: RecordCursor

    package init(_ bytes: UnsafeRawBufferPointer) {
        unsafe cursor = RecordCursor(bytes)
    }

    package mutating func next() throws(VaultCryptoError) -> UnsafeRawBufferPointer? {
        guard !cursor.isAtEnd else { return nil }
        return try unsafe cursor.lengthPrefixedBytes()
    }
}

/// A position in a buffer that never moves beyond the buffer's end.
@safe struct RecordCursor {
    private let bytes: UnsafeRawBufferPointer
    private var offset = 0

    init(_ bytes: UnsafeRawBufferPointer) {
        unsafe self.bytes = bytes
    }

    var isAtEnd: Bool { unsafe offset == bytes.count }

    mutating func byte() -> UInt8? {
        guard unsafe offset < bytes.count else { return nil }
        defer { offset += 1 }
        return unsafe bytes[offset]
    }

    mutating func lengthPrefixedBytes() throws(VaultCryptoError) -> UnsafeRawBufferPointer {
        let length = try length()
        guard unsafe length <= bytes.count - offset else { throw Self.truncated }
        defer { offset += length }
        return unsafe UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + length])
    }

    /// Minimal LEB128 of at most four bytes: 2²⁸ − 1 is longer than any cell.
    private mutating func length() throws(VaultCryptoError) -> Int {
        guard let first = byte() else { throw Self.truncated }
        if first & 0x80 == 0 { return Int(first) }
        var value = Int(first & 0x7F)
        for shift in stride(from: 7, through: 21, by: 7) {
            guard let byte = byte() else { throw Self.truncated }
            value |= Int(byte & 0x7F) << shift
            if byte & 0x80 == 0 {
                guard byte != 0 else { break }
                return value
            }
        }
        throw VaultCryptoError(.malformedRecord, "a record has a non-canonical length")
    }

    private static var truncated: VaultCryptoError {
        VaultCryptoError(.malformedRecord, "a record ends in the middle of a field")
    }
}
