import Crypto
import FoundationEssentials
import OAuthClient

/// An id token as the sample provider makes it, with members to change.
struct SampleIDToken {
    var header: [String: String]
    var claims: [String: String]
    var key: P256.Signing.PrivateKey?

    init(issuer: String = "https://acme.example", nonce: String? = nil, now: Date) {
        header = ["alg": "\"ES256\"", "kid": "\"k1\""]
        let second = Int(now.timeIntervalSince1970)
        claims = [
            "iss": "\"\(issuer)\"", "sub": "\"CANARY-subject\"", "aud": "\"client-1\"", "exp": "\(second + 300)",
            "iat": "\(second)", "email": "\"CANARY-alice@acme.example\"", "email_verified": "true",
        ]
        if let nonce { claims["nonce"] = "\"\(nonce)\"" }
    }

    /// Signed with ``key``; without one the signature is three bytes of nothing.
    var text: String {
        let input = Base64URL.encode(Self.json(header).utf8) + "." + Base64URL.encode(Self.json(claims).utf8)
        guard let key, let signature = try? key.signature(for: Array(input.utf8)) else { return input + ".c2ln" }
        return input + "." + Base64URL.encode(signature.rawRepresentation)
    }

    /// The key set in which the key is found.
    static func keySet(_ key: P256.Signing.PrivateKey, name: String = "k1") -> String {
        let point = [UInt8](key.publicKey.rawRepresentation)
        return
            #"{"keys":[{"kty":"EC","crv":"P-256","use":"sig","kid":"\#(name)","x":"\#(Base64URL.encode(point.prefix(32)))","#
            + #""y":"\#(Base64URL.encode(point.suffix(32)))"}]}"#
    }

    private static func json(_ members: [String: String]) -> String {
        "{" + members.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",") + "}"
    }
}
