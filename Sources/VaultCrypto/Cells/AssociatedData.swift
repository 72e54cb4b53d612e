/// The context that a cell is bound to, in one canonical encoding.
///
/// Each field is a type byte, a length for texts and byte strings, and the content, so that no two different lists of
/// fields give the same bytes. It is on the stack: making one allocates nothing.
package struct AssociatedData: ~Copyable {
    /// Room for all fields together. A row's columns take about a third of it.
    package static let capacity = 768

    private enum FieldType {
        static let absent: UInt8 = 0
        static let integer: UInt8 = 1
        static let bytes: UInt8 = 2
        static let text: UInt8 = 3
    }

    @usableFromInline var storage: InlineArray<768, UInt8>
    @usableFromInline package internal(set) var count: Int
    /// Sealing and opening refuse associated data that did not fit.
    @usableFromInline package internal(set) var isTooLong: Bool

    /// Starts with the vault and the table, which every cell is bound to in addition to its header.
    ///
    /// Inlined, because returning it from a function would copy all of it.
    @inlinable @inline(__always)
    package init(vault: Bytes16, table: StaticString) {
        self.init()
        begin(vault, table)
    }

    @usableFromInline
    mutating func begin(_ vault: Bytes16, _ table: StaticString) {
        append(vault)
        table.withUTF8Buffer { unsafe append(FieldType.text, UnsafeRawBufferPointer($0)) }
    }

    /// No fields at all, for tests of the encoding.
    @inlinable @inline(__always)
    init() {
        storage = InlineArray(repeating: 0)
        count = 0
        isTooLong = false
    }

    package mutating func append(_ value: Int64) {
        guard reserve(9) else { return }
        unsafe write { start in
            unsafe start.storeBytes(of: FieldType.integer, as: UInt8.self)
            unsafe (start + 1).storeBytes(of: value.littleEndian, as: Int64.self)
        }
        count += 9
    }

    package mutating func append(_ value: Bytes16) {
        guard reserve(19) else { return }
        unsafe write { start in
            unsafe start.storeBytes(of: FieldType.bytes, as: UInt8.self)
            unsafe (start + 1).storeBytes(of: UInt16(16).littleEndian, as: UInt16.self)
            unsafe (start + 3).storeBytes(of: value, as: Bytes16.self)
        }
        count += 19
    }

    package mutating func append(bytes: UnsafeRawBufferPointer) {
        unsafe append(FieldType.bytes, bytes)
    }

    package mutating func append(bytes: [UInt8]) {
        unsafe bytes.withUnsafeBytes { unsafe append(FieldType.bytes, $0) }
    }

    package mutating func append(_ text: String) {
        var text = text
        text.withUTF8 { unsafe append(FieldType.text, UnsafeRawBufferPointer($0)) }
    }

    /// An absent value, which is different from an empty one.
    package mutating func appendNil() {
        guard reserve(1) else { return }
        unsafe write { start in unsafe start.storeBytes(of: FieldType.absent, as: UInt8.self) }
        count += 1
    }

    package mutating func append(_ value: Int64?) {
        if let value { append(value) } else { appendNil() }
    }

    package mutating func append(_ value: Bytes16?) {
        if let value { append(value) } else { appendNil() }
    }

    package mutating func append(_ text: String?) {
        if let text { append(text) } else { appendNil() }
    }

    package func withUnsafeBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
        let count = count
        return try unsafe storage.span.bytes.withUnsafeBytes { bytes throws(E) in
            try unsafe body(UnsafeRawBufferPointer(rebasing: bytes[..<count]))
        }
    }

    private mutating func append(_ type: UInt8, _ content: UnsafeRawBufferPointer) {
        guard content.count <= Self.capacity, reserve(3 + content.count) else {
            isTooLong = true
            return
        }
        unsafe write { start in
            unsafe start.storeBytes(of: type, as: UInt8.self)
            unsafe (start + 1).storeBytes(of: UInt16(truncatingIfNeeded: content.count).littleEndian, as: UInt16.self)
            if let source = content.baseAddress {
                unsafe (start + 3).copyMemory(from: source, byteCount: content.count)
            }
        }
        count += 3 + content.count
    }

    private mutating func reserve(_ byteCount: Int) -> Bool {
        guard !isTooLong, count + byteCount <= Self.capacity else {
            isTooLong = true
            return false
        }
        return true
    }

    private mutating func write(_ body: (UnsafeMutableRawPointer) -> Void) {
        let offset = count
        var span = storage.mutableSpan
        unsafe span.withUnsafeMutableBytes { bytes in
            if let base = bytes.baseAddress { unsafe body(base + offset) }
        }
    }
}
