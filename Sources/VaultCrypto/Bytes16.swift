/// Sixteen bytes that are compared and copied as two machine words, in memory order.
package struct Bytes16: Hashable, Comparable, Sendable {
    private let first: UInt64
    private let second: UInt64

    package static let byteCount = 16

    /// All bits, of which those of a random value or a keyed hash find a place in a table as they are.
    package var words: (UInt64, UInt64) { (first, second) }
    package static let zero = Bytes16(first: 0, second: 0)

    private init(first: UInt64, second: UInt64) {
        self.first = first
        self.second = second
    }

    /// - Parameter source: at least 16 readable bytes.
    package init(loading source: UnsafeRawPointer) {
        unsafe first = source.loadUnaligned(as: UInt64.self)
        unsafe second = source.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
    }

    /// `nil` unless there are exactly 16 bytes.
    package init?(_ source: UnsafeRawBufferPointer) {
        guard source.count == Self.byteCount, let base = source.baseAddress else { return nil }
        unsafe self.init(loading: base)
    }

    /// `nil` unless there are exactly 16 bytes.
    package init?(_ source: [UInt8]) {
        guard let value = unsafe source.withUnsafeBytes({ unsafe Bytes16($0) }) else { return nil }
        self = value
    }

    @inlinable
    package func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        try unsafe Swift.withUnsafeBytes(of: self, body)
    }

    /// Byte by byte.
    package static func < (left: Bytes16, right: Bytes16) -> Bool {
        (left.first.bigEndian, left.second.bigEndian) < (right.first.bigEndian, right.second.bigEndian)
    }

    package static func ^ (own: Bytes16, other: Bytes16) -> Bytes16 {
        Bytes16(first: own.first ^ other.first, second: own.second ^ other.second)
    }

    /// The first half, as a number: random if the bytes are.
    package var firstWord: UInt64 { first }
    package var secondWord: UInt64 { second }

    /// The first half of this value and the second half of another.
    package func withSecondHalf(of other: Bytes16) -> Bytes16 { Bytes16(first: first, second: other.second) }

    package var array: [UInt8] { unsafe withUnsafeBytes { unsafe [UInt8]($0) } }
}
