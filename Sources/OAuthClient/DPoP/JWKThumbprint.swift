import Crypto

/// The SHA-256 thumbprint of a public key (RFC 7638): `jkt` and `dpop_jkt` of RFC 9449. Not a secret.
public struct JWKThumbprint: Hashable, Sendable, CustomStringConvertible {
    /// base64url, 43 characters.
    public let rawValue: String

    /// Takes the JWK's required members in lexical order, without white space (RFC 7638 §3).
    package init(canonicalJWK: String) {
        rawValue = Base64URL.encode(SHA256.hash(data: Array(canonicalJWK.utf8)))
    }

    public var description: String { rawValue }
}
