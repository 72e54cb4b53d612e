extension [UInt8] {
    private static let zeroes = [UInt8](repeating: 0, count: 2_048)

    /// Zeroed bytes. Copied where they are few, as in most cells: the other initialisers look up the type of their
    /// storage each time, which is slower.
    package init(zeroes count: Int) {
        if count > Self.zeroes.count {
            self.init(repeating: 0, count: count)
        } else {
            self = unsafe Self.zeroes.withUnsafeBytes { unsafe [UInt8](UnsafeRawBufferPointer(rebasing: $0[..<count])) }
        }
    }

    /// `withUnsafeBytes` with the error's type kept.
    func withBytes<R>(
        _ body: (UnsafeRawBufferPointer) throws(VaultCryptoError) -> R
    ) throws(VaultCryptoError) -> R {
        try unsafe span.bytes.withUnsafeBytes(body)
    }
}

extension UnsafeRawPointer {
    /// As the `unsigned char *` that libsodium takes.
    var u8: UnsafePointer<UInt8> { unsafe assumingMemoryBound(to: UInt8.self) }
}

extension UnsafeMutableRawPointer {
    /// As the `unsigned char *` that libsodium takes.
    var u8: UnsafeMutablePointer<UInt8> { unsafe assumingMemoryBound(to: UInt8.self) }
}
