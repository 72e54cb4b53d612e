import CSodium

/// The age wrapping of a file key for an X25519 recipient (<https://age-encryption.org/v1>, "The X25519 recipient
/// type"). Here the wrapping key is the key of a slot.
enum X25519 {
    private static let info = Array("age-encryption.org/v1/X25519".utf8)

    /// The public half.
    /// - Parameter secret: 32 readable bytes.
    static func recipient(of secret: UnsafeRawPointer) throws(VaultCryptoError) -> Recipient {
        try Sodium.initialize()
        var bytes = [UInt8](repeating: 0, count: Recipient.byteCount)
        let status = unsafe bytes.withUnsafeMutableBufferPointer { target -> Int32 in
            guard let target = target.baseAddress else { return -1 }
            return unsafe crypto_scalarmult_curve25519_base(target, secret.u8)
        }
        guard status == 0, let recipient = Recipient(bytes) else { throw refused }
        return recipient
    }

    /// `HKDF-SHA-256(ikm = X25519(secret, peer), salt = share ‖ recipient, info)`, 32 bytes.
    ///
    /// - Parameters:
    ///   - secret: The ephemeral secret of the wrapping side, or the identity's secret: 32 readable bytes.
    ///   - peer: The other side's public half.
    ///   - share: The public half of the ephemeral secret.
    static func wrapKey(
        secret: UnsafeRawPointer, peer: [UInt8], share: [UInt8], recipient: Recipient,
        into target: UnsafeMutableRawBufferPointer
    ) throws(VaultCryptoError) {
        let salt = share + recipient.bytes
        let isDone = unsafe withUnsafeTemporaryAllocation(byteCount: 32, alignment: 16) { shared -> Bool in
            guard let start = shared.baseAddress, peer.count == Recipient.byteCount else { return false }
            defer { unsafe sodium_memzero(start, shared.count) }
            // Fails for a peer of low order, whose shared secret is all zero.
            let status = unsafe peer.withUnsafeBufferPointer { peer -> Int32 in
                guard let peer = peer.baseAddress else { return -1 }
                return unsafe crypto_scalarmult_curve25519(start.u8, secret.u8, peer)
            }
            guard status == 0 else { return false }
            unsafe HKDF.derive(UnsafeRawBufferPointer(shared), salt: salt, info: info, into: target)
            return true
        }
        guard isDone else { throw refused }
    }

    private static var refused: VaultCryptoError {
        VaultCryptoError(
            .recipientMalformed, "this recipient is not a key: it has no secret half",
            hint: "make a key pair with age-keygen")
    }
}
