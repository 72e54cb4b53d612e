package import Crypto

/// The key pair to which tokens are bound (RFC 9449), on P-256 for `ES256`.
///
/// It signs every renewal for the whole life of its login. It prints as redacted and is not `Codable`.
public struct DPoPKey: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package let signingKey: P256.Signing.PrivateKey
    /// The thumbprint of the public key: `cnf.jkt` and `dpop_jkt`.
    public let thumbprint: JWKThumbprint
    /// The encoded JOSE header, the same for every proof of this key.
    let encodedHeader: String

    /// A new key pair.
    public static func generate() -> DPoPKey {
        DPoPKey(P256.Signing.PrivateKey(compactRepresentable: false))
    }

    /// Takes the 32 bytes that ``revealRawRepresentation()`` returned.
    public init(rawRepresentation: some Sequence<UInt8>) throws(OAuthValueError) {
        do {
            self.init(try P256.Signing.PrivateKey(rawRepresentation: Array(rawRepresentation)))
        } catch {
            throw OAuthValueError(.malformed, "DPoP key")
        }
    }

    init(_ signingKey: P256.Signing.PrivateKey) {
        self.signingKey = signingKey
        // The raw representation is x ‖ y, each padded to 32 bytes, as RFC 7518 §6.2.1.2 requires.
        let point = Array(signingKey.publicKey.rawRepresentation)
        let x = Base64URL.encode(point.prefix(32))
        let y = Base64URL.encode(point.suffix(32))
        let jwk = #"{"crv":"P-256","kty":"EC","x":"\#(x)","y":"\#(y)"}"#
        thumbprint = JWKThumbprint(canonicalJWK: jwk)
        encodedHeader = Base64URL.encode(#"{"typ":"dpop+jwt","alg":"ES256","jwk":\#(jwk)}"#.utf8)
    }

    /// The private key: 32 bytes. Never log them.
    public func revealRawRepresentation() -> [UInt8] { Array(signingKey.rawRepresentation) }

    public var description: String { "<DPoP key>" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: [Mirror.Child](), displayStyle: .struct) }
}
