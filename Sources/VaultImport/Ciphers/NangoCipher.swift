import Crypto
import VaultCrypto

/// Nango's encryption: AES-256-GCM with a nonce of 12 bytes and no associated data, each part in Base64.
///
/// Nango, `packages/utils/lib/encryption.ts`.
struct NangoCipher {
    private let key: SymmetricKey

    /// Nil unless the key is 32 bytes in Base64.
    init?(_ secret: SourceSecret) {
        guard let bytes = Base64.decode(secret.reveal()), bytes.count == 32 else { return nil }
        key = SymmetricKey(data: bytes)
    }

    func open(_ text: String, nonce: String, tag: String) -> [UInt8]? {
        guard let ciphertext = Base64.decode(text), let nonce = Base64.decode(nonce), nonce.count == 12,
            let tag = Base64.decode(tag), tag.count == 16, let gcmNonce = try? AES.GCM.Nonce(data: nonce),
            let box = try? AES.GCM.SealedBox(nonce: gcmNonce, ciphertext: ciphertext, tag: tag),
            let opened = try? AES.GCM.open(box, using: key)
        else { return nil }
        return Array(opened)
    }
}
