import CSodium

/// The header of a file of age (<https://age-encryption.org/v1>): the file key, wrapped for each recipient.
struct AgeHeader {
    private static let fileKeyByteCount = 16
    private static let nonceByteCount = 16
    private static let version = "age-encryption.org/v1"

    /// Everything before the first chunk, including the nonce of the payload's key.
    let bytes: [UInt8]
    let payloadKey: SealingKey

    /// Makes a header with a fresh file key, used for this file alone.
    init(for recipients: [Recipient]) throws(VaultCryptoError) {
        guard !recipients.isEmpty else {
            throw VaultCryptoError(.recipientMalformed, "there is no recipient")
        }
        // Longer than the file key, because keys in guarded memory have 32 bytes. Only the first 16 are used.
        let fileKey = try SealingKey.generate()
        defer { withExtendedLifetime(fileKey) {} }
        let file = unsafe UnsafeRawBufferPointer(start: fileKey.pointer, count: Self.fileKeyByteCount)
        var text = Self.version + "\n"
        for recipient in recipients { text += try unsafe Self.stanza(file, for: recipient) }
        text += "---"
        let nonce = SecureRandom.bytes(Self.nonceByteCount)
        bytes = Array((text + " \(unsafe Self.mac(text, file))\n").utf8) + nonce
        payloadKey = try unsafe SealingKey.slotKey { target in
            unsafe HKDF.derive(file, salt: nonce, info: Array("payload".utf8), into: target)
        }
    }

    /// A recipient stanza of two lines: the share, and the file key wrapped under the key derived from the share and
    /// the recipient.
    private static func stanza(
        _ fileKey: UnsafeRawBufferPointer, for recipient: Recipient
    ) throws(VaultCryptoError) -> String {
        let ephemeral = try SealingKey.generate()
        defer { withExtendedLifetime(ephemeral) {} }
        let share = try unsafe X25519.recipient(of: ephemeral.pointer).bytes
        let key = try unsafe SealingKey.slotKey { target throws(VaultCryptoError) in
            try unsafe X25519.wrapKey(
                secret: ephemeral.pointer, peer: recipient.bytes, share: share, recipient: recipient, into: target)
        }
        // The key is used once: the nonce may be zero.
        let body = unsafe AgeChunk.seal(fileKey, key: key, nonce: AgeChunk.zeroNonce)
        return "-> X25519 \(base64(share))\n\(base64(body))\n"
    }

    /// The MAC of everything up to the three dashes.
    private static func mac(_ text: String, _ fileKey: UnsafeRawBufferPointer) -> String {
        var mac = [UInt8](repeating: 0, count: HKDF.byteCount)
        unsafe withUnsafeTemporaryAllocation(byteCount: HKDF.byteCount, alignment: 16) { key in
            defer { if let start = key.baseAddress { unsafe sodium_memzero(start, key.count) } }
            unsafe HKDF.derive(fileKey, salt: [], info: Array("header".utf8), into: key)
            unsafe Array(text.utf8).withUnsafeBytes { message in
                unsafe mac.withUnsafeMutableBytes {
                    unsafe HKDF.hmac(key: UnsafeRawBufferPointer(key), message, into: $0)
                }
            }
        }
        return base64(mac)
    }

    /// Base64 without padding. 32 and 48 bytes fit on one line of less than 64 characters.
    private static func base64(_ bytes: [UInt8]) -> String {
        String(Base64.encode(bytes).prefix { $0 != "=" })
    }
}

/// ChaCha20-Poly1305 (RFC 8439) as age uses it: without associated data.
enum AgeChunk {
    static let zeroNonce = [UInt8](repeating: 0, count: 12)
    static let overhead = 16

    static func seal(_ plaintext: UnsafeRawBufferPointer, key: SealingKey, nonce: [UInt8]) -> [UInt8] {
        var sealed = [UInt8](repeating: 0, count: plaintext.count + overhead)
        withExtendedLifetime(key) {
            unsafe _ = crypto_aead_chacha20poly1305_ietf_encrypt(
                &sealed, nil, plaintext.baseAddress?.u8, UInt64(plaintext.count), nil, 0, nil, nonce, key.pointer.u8)
        }
        return sealed
    }
}
