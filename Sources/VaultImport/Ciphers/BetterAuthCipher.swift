import Crypto
import OAuthClient
import VaultCrypto

/// Better Auth's encryption of tokens: XChaCha20-Poly1305 under the SHA-256 of a secret, in hexadecimal digits.
///
/// better-auth, `packages/better-auth/src/crypto/index.ts`: `$ba$VERSION$HEX`; older versions wrote the digits alone.
struct BetterAuthCipher {
    private let keys: [Int: [UInt8]]
    private let unversioned: [UInt8]?

    init(_ secrets: SourceSecrets) {
        keys = secrets.betterAuth.mapValues(Self.key)
        unversioned = secrets.betterAuthUnversioned.map(Self.key)
    }

    enum Reading: Equatable {
        case plain
        /// It looks like a ciphertext, but there is no secret.
        case maybeSealed
        case opened(String)
        case keyNeeded(version: Int?)
        case notDecryptable
    }

    func read(_ text: String) -> Reading {
        if text.hasPrefix("$ba$") {
            let parts = text.dropFirst(4).split(separator: "$", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, let version = Int(parts[0]), version >= 0 else { return .plain }
            guard let key = keys[version] else { return .keyNeeded(version: version) }
            return open(parts[1], key)
        }
        // A plain token may also consist of hexadecimal digits. A text shorter than nonce and tag is not a ciphertext.
        let isSealed =
            text.utf8.count > ForeignCipher.overhead * 2 && text.utf8.count.isMultiple(of: 2)
            && text.utf8.allSatisfy { Hex.value($0) != nil }
        guard isSealed else { return .plain }
        guard let unversioned else { return .maybeSealed }
        return open(text[...], unversioned)
    }

    private func open(_ hex: Substring, _ key: [UInt8]) -> Reading {
        guard let sealed = Hex.decode(hex.utf8), let opened = ForeignCipher.open(sealed, key: key),
            let text = String(validating: opened, as: UTF8.self)
        else { return .notDecryptable }
        return .opened(text)
    }

    private static func key(_ secret: SourceSecret) -> [UInt8] {
        Array(SHA256.hash(data: Array(secret.reveal().utf8)))
    }
}
