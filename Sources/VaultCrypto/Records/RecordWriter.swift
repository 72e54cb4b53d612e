import CSodium

/// Writes the tagged binary record that is a cell's plaintext. Its memory is wiped when it grows and when it is freed.
///
/// A field is one tag byte (1–255), the length as minimal LEB128, and the content; tags ascend. See
/// `docs/vault-format.md`.
@safe package struct RecordWriter: ~Copyable {
    private var buffer: UnsafeMutableRawBufferPointer
    private var count = 0
    private var lastTag: UInt8 = 0

    package init(capacity: Int = 512) {
        unsafe buffer = .allocate(byteCount: max(capacity, 16), alignment: 16)
    }

    deinit {
        unsafe sodium_memzero(buffer.baseAddress, buffer.count)
        unsafe buffer.deallocate()
    }

    /// The record so far. Valid while the writer lives and is not written to.
    package var bytes: UnsafeRawBufferPointer {
        unsafe UnsafeRawBufferPointer(start: buffer.baseAddress, count: count)
    }

    package mutating func append(_ tag: UInt8, bytes: UnsafeRawBufferPointer) {
        start(tag, length: bytes.count)
        unsafe write(bytes)
    }

    package mutating func append(_ tag: UInt8, _ value: UInt8) {
        start(tag, length: 1)
        unsafe withUnsafeBytes(of: value) { unsafe write($0) }
    }

    package mutating func append(_ tag: UInt8, _ value: Bool) {
        append(tag, value ? 1 as UInt8 : 0)
    }

    package mutating func append(_ tag: UInt8, _ value: Int64) {
        start(tag, length: 8)
        unsafe withUnsafeBytes(of: value.littleEndian) { unsafe write($0) }
    }

    package mutating func append(_ tag: UInt8, _ value: Bytes16) {
        start(tag, length: 16)
        unsafe value.withUnsafeBytes { unsafe write($0) }
    }

    package mutating func append(_ tag: UInt8, _ value: String) {
        var value = value
        value.withUTF8 { unsafe append(tag, bytes: UnsafeRawBufferPointer($0)) }
    }

    package mutating func append(_ tag: UInt8, _ value: SecretBytes) {
        unsafe value.withUnsafeBytes { unsafe append(tag, bytes: $0) }
    }

    package mutating func append(_ tag: UInt8, _ key: SealingKey) {
        start(tag, length: SealingKey.byteCount)
        unsafe key.withUnsafeBytes { unsafe write($0) }
    }

    /// Appends a nested record.
    package mutating func append(_ tag: UInt8, record: borrowing RecordWriter) {
        unsafe append(tag, bytes: record.bytes)
    }

    /// Appends a list of records, each preceded by its length.
    package mutating func append(_ tag: UInt8, list: borrowing RecordList) {
        unsafe append(tag, bytes: list.bytes)
    }

    /// Absent values write no field.
    package mutating func append(_ tag: UInt8, _ value: UInt8?) { if let value { append(tag, value) } }
    package mutating func append(_ tag: UInt8, _ value: Int64?) { if let value { append(tag, value) } }
    package mutating func append(_ tag: UInt8, _ value: Bytes16?) { if let value { append(tag, value) } }
    package mutating func append(_ tag: UInt8, _ value: String?) { if let value { append(tag, value) } }
    package mutating func append(_ tag: UInt8, _ value: SecretBytes?) { if let value { append(tag, value) } }

    private mutating func start(_ tag: UInt8, length: Int) {
        precondition(tag > lastTag, "a record's tags ascend, from 1")
        lastTag = tag
        write(tag)
        writeLength(length)
    }

    /// The length as LEB128: seven bits a byte, the lowest first, the top bit set on all but the last.
    mutating func writeLength(_ length: Int) {
        var rest = UInt(bitPattern: length)
        while rest >= 0x80 {
            write(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        write(UInt8(truncatingIfNeeded: rest))
    }

    private mutating func write(_ byte: UInt8) {
        unsafe withUnsafeBytes(of: byte) { unsafe write($0) }
    }

    mutating func write(_ source: UnsafeRawBufferPointer) {
        guard let start = source.baseAddress, unsafe !source.isEmpty else { return }
        if unsafe count + source.count > buffer.count { grow(toHold: count + source.count) }
        guard let base = unsafe buffer.baseAddress else { return }
        unsafe (base + count).copyMemory(from: start, byteCount: source.count)
        count += source.count
    }

    private mutating func grow(toHold needed: Int) {
        let larger = unsafe UnsafeMutableRawBufferPointer.allocate(
            byteCount: max(needed, buffer.count * 2), alignment: 16)
        unsafe larger.copyMemory(from: bytes)
        unsafe sodium_memzero(buffer.baseAddress, buffer.count)
        unsafe buffer.deallocate()
        unsafe buffer = larger
    }
}

/// The elements of a list field, each a record or a byte string.
package struct RecordList: ~Copyable {
    private var writer: RecordWriter

    package init(capacity: Int = 256) { writer = RecordWriter(capacity: capacity) }

    package mutating func append(_ element: borrowing RecordWriter) {
        unsafe append(bytes: element.bytes)
    }

    package mutating func append(_ element: String) {
        var element = element
        element.withUTF8 { unsafe append(bytes: UnsafeRawBufferPointer($0)) }
    }

    package mutating func append(_ element: SecretBytes) {
        unsafe element.withUnsafeBytes { unsafe append(bytes: $0) }
    }

    package mutating func append(bytes: UnsafeRawBufferPointer) {
        writer.writeLength(bytes.count)
        unsafe writer.write(bytes)
    }

    package var bytes: UnsafeRawBufferPointer { unsafe writer.bytes }
}
