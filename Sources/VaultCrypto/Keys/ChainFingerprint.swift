import CSodium

/// Identifies refresh tokens without holding them: equal tokens have equal fingerprints under one key, and without the
/// key a fingerprint reveals nothing about its token.
package struct ChainFingerprint: Sendable {
    private let key: SealingKey

    /// Makes its own random key: the fingerprints mean nothing beyond this value.
    package init() throws(VaultCryptoError) {
        key = try SealingKey.generate()
    }

    /// Keyed BLAKE2b-128.
    package func callAsFunction(of text: String) -> Bytes16 {
        defer { withExtendedLifetime(key) {} }
        var text = text
        var value = Bytes16.zero
        text.withUTF8 { utf8 in
            unsafe withUnsafeMutableBytes(of: &value) { output in
                guard let target = output.baseAddress else { return }
                unsafe _ = crypto_generichash_blake2b(
                    target.assumingMemoryBound(to: UInt8.self), output.count, utf8.baseAddress, UInt64(utf8.count),
                    key.pointer.assumingMemoryBound(to: UInt8.self), SealingKey.byteCount)
            }
        }
        return value
    }
}
