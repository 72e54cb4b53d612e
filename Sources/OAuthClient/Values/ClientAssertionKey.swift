import Crypto

/// The private key with which a client signs who it is: `private_key_jwt` (RFC 7523 §2.2). ES256 alone is offered.
public struct ClientAssertionKey: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    let signingKey: P256.Signing.PrivateKey
    /// Which of the client's registered keys this is; sent as `kid`.
    public let keyID: String?

    /// Takes a P-256 private key in PEM, as SEC 1 or PKCS #8.
    public init(pem: String, keyID: String? = nil) throws(OAuthValueError) {
        guard pem.utf8.count <= 4_096 else { throw OAuthValueError(.tooLong, "client key") }
        do {
            signingKey = try P256.Signing.PrivateKey(pemRepresentation: pem)
        } catch {
            throw OAuthValueError(.malformed, "client key")
        }
        if let keyID {
            _ = try SecretGrammar.requireVisible(keyID, "client key id")
            guard keyID.utf8.count <= 256 else { throw OAuthValueError(.tooLong, "client key id") }
        }
        self.keyID = keyID
    }

    /// The private key in PEM. Give it to nothing that logs.
    public func revealPEM() -> String { signingKey.pemRepresentation }

    /// The public key, for the registration at the provider.
    public var publicKeyPEM: String { signingKey.publicKey.pemRepresentation }

    public static func == (one: ClientAssertionKey, other: ClientAssertionKey) -> Bool {
        one.keyID == other.keyID
            && one.signingKey.publicKey.rawRepresentation == other.signingKey.publicKey.rawRepresentation
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(keyID)
        hasher.combine(signingKey.publicKey.rawRepresentation)
    }

    public var description: String { "<client key>" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: [Mirror.Child](), displayStyle: .struct) }
}
