import Crypto
import CryptoExtras
import FoundationEssentials

/// The public half of a private key as a JWK (RFC 7517, RFC 7518 §6), for a client's registration.
enum PublicJWK {
    /// Nil unless the key is P-256, P-384, P-521 or RSA.
    ///
    /// - Parameters:
    ///   - privateKeyPEM: The private key.
    ///   - members: Additional members of the JWK, such as `kid`.
    ///   - certificates: DER, the key's own first (`x5c`).
    static func text(
        privateKeyPEM pem: String, members: [(name: String, value: String)] = [], certificates: [[UInt8]] = []
    ) -> String? {
        guard let key = parameters(pem) else { return nil }
        var text = (key + members).map { JSONText.quote($0.0) + ":" + JSONText.quote($0.1) }
        if !certificates.isEmpty {
            let chain = certificates.map { JSONText.quote(Data($0).base64EncodedString()) }
            text.append(#""x5c":["# + chain.joined(separator: ",") + "]")
        }
        return "{" + text.joined(separator: ",") + "}"
    }

    private static func parameters(_ pem: String) -> [(name: String, value: String)]? {
        if let key = try? P256.Signing.PrivateKey(pemRepresentation: pem) {
            return curve("P-256", key.publicKey.rawRepresentation)
        }
        if let key = try? P384.Signing.PrivateKey(pemRepresentation: pem) {
            return curve("P-384", key.publicKey.rawRepresentation)
        }
        if let key = try? P521.Signing.PrivateKey(pemRepresentation: pem) {
            return curve("P-521", key.publicKey.rawRepresentation)
        }
        guard let key = try? _RSA.Signing.PrivateKey(pemRepresentation: pem),
            let numbers = try? key.publicKey.getKeyPrimitives()
        else { return nil }
        return [
            ("kty", "RSA"), ("n", Base64URL.encode(numbers.modulus)), ("e", Base64URL.encode(numbers.publicExponent)),
        ]
    }

    private static func curve(_ name: String, _ point: Data) -> [(name: String, value: String)] {
        let half = point.count / 2
        return [
            ("kty", "EC"), ("crv", name), ("x", Base64URL.encode(point.prefix(half))),
            ("y", Base64URL.encode(point.dropFirst(half))),
        ]
    }
}

extension ClientCertificate {
    /// A JWK set with the public key and the certificate, for `self_signed_tls_client_auth` (RFC 8705 §2.2.2).
    public var jwks: String {
        let key = PublicJWK.text(privateKeyPEM: revealKeyPEM(), certificates: chain)
        return #"{"keys":["# + (key ?? "") + "]}"
    }
}
