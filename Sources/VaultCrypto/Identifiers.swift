/// The identifier of a key. Not secret: it is in every cell's header.
package struct KeyID: Hashable, Sendable {
    package let bytes: Bytes16

    package init(_ bytes: Bytes16) { self.bytes = bytes }

    package static func random() -> KeyID { KeyID(SecureRandom.bytes16()) }
}

/// The authentication tag of a cell: the last 16 bytes, which identify the whole cell in a manifest or in another
/// cell's associated data.
package struct CellTag: Hashable, Sendable {
    package let bytes: Bytes16

    package init(_ bytes: Bytes16) { self.bytes = bytes }
}

/// A keyed hash for looking up a row by a value that the file must not reveal.
package struct BlindIndex: Hashable, Sendable {
    package let bytes: Bytes16

    package init(_ bytes: Bytes16) { self.bytes = bytes }
}

/// One link of the audit chain: 32 bytes.
package struct AuditMAC: Hashable, Sendable {
    package let first: Bytes16
    package let second: Bytes16

    package static let byteCount = 32
    /// The predecessor of the first row of a chain.
    package static let genesis = AuditMAC(first: .zero, second: .zero)

    init(first: Bytes16, second: Bytes16) {
        self.first = first
        self.second = second
    }

    /// `nil` unless there are exactly 32 bytes.
    package init?(_ source: UnsafeRawBufferPointer) {
        guard source.count == Self.byteCount, let base = source.baseAddress else { return nil }
        unsafe first = Bytes16(loading: base)
        unsafe second = Bytes16(loading: base + 16)
    }

    package var array: [UInt8] { first.array + second.array }

    @inlinable
    package func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        try unsafe Swift.withUnsafeBytes(of: self, body)
    }

    /// The combination identifies a set of links in any order, provided that the links cannot be chosen.
    package static func ^ (own: AuditMAC, other: AuditMAC) -> AuditMAC {
        AuditMAC(first: own.first ^ other.first, second: own.second ^ other.second)
    }
}
