extension [UInt8] {
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
