import CSodium

/// Opens data that other programs sealed with XChaCha20-Poly1305. The vault's own cells are ``SealedCell``s.
package enum ForeignCipher {
    private static let nonceByteCount = 24
    package static let overhead = 40

    /// The plaintext of `nonce ‖ ciphertext ‖ tag`; nil if the key or the bytes are wrong.
    /// - Parameter key: exactly 32 bytes.
    package static func open(_ sealed: [UInt8], key: [UInt8]) -> [UInt8]? {
        guard key.count == SealingKey.byteCount, sealed.count >= overhead else { return nil }
        var plaintext = [UInt8](repeating: 0, count: sealed.count - overhead)
        let nonce = Array(sealed.prefix(nonceByteCount))
        let body = Array(sealed.dropFirst(nonceByteCount))
        let code = unsafe crypto_aead_xchacha20poly1305_ietf_decrypt(
            &plaintext, nil, nil, body, UInt64(body.count), nil, 0, nonce, key)
        return code == 0 ? plaintext : nil
    }
}
