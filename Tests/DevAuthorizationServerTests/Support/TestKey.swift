import Crypto
import Foundation

func base64URL(_ bytes: some Sequence<UInt8>) -> String {
    Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
}

/// A client's DPoP key, with every part of its proofs open to falsification.
struct TestKey: Sendable {
    let key = P256.Signing.PrivateKey()

    var jwk: [String: Any] {
        let point = key.publicKey.rawRepresentation
        return ["kty": "EC", "crv": "P-256", "x": base64URL(point.prefix(32)), "y": base64URL(point.suffix(32))]
    }

    var thumbprint: String {
        let point = key.publicKey.rawRepresentation
        let (x, y) = (base64URL(point.prefix(32)), base64URL(point.suffix(32)))
        let text = "{\"crv\":\"P-256\",\"kty\":\"EC\",\"x\":\"\(x)\",\"y\":\"\(y)\"}"
        return base64URL(SHA256.hash(data: Data(text.utf8)))
    }

    /// The two parameters of `private_key_jwt`.
    func assertion(
        of client: String, for audience: Any, header: [String: Any] = [:], claims: [String: Any] = [:],
        removing: String? = nil
    ) throws -> [(String, String)] {
        let now = Int(Date().timeIntervalSince1970)
        var head: [String: Any] = ["typ": "JWT", "alg": "ES256"]
        var body: [String: Any] = [
            "iss": client, "sub": client, "aud": audience, "jti": UUID().uuidString, "iat": now, "exp": now + 60,
        ]
        for (name, value) in header { head[name] = value }
        for (name, value) in claims { body[name] = value }
        if let removing { body[removing] = nil }
        let input = try base64URL(JSON.encode(head)) + "." + base64URL(JSON.encode(body))
        let signature = try key.signature(for: Data(input.utf8)).rawRepresentation
        return [
            ("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"),
            ("client_assertion", input + "." + base64URL(signature)),
        ]
    }

    func proof(
        _ method: String, _ url: String, token: String? = nil, nonce: String? = nil, issuedAt: Date = Date(),
        header: [String: Any] = [:], claims: [String: Any] = [:], removing: String? = nil,
        signature: ((Data) throws -> Data)? = nil
    ) throws -> String {
        var head: [String: Any] = ["typ": "dpop+jwt", "alg": "ES256", "jwk": jwk]
        var body: [String: Any] = [
            "htm": method, "htu": url, "jti": UUID().uuidString, "iat": Int(issuedAt.timeIntervalSince1970),
        ]
        body["nonce"] = nonce
        body["ath"] = token.map { base64URL(SHA256.hash(data: Data($0.utf8))) }
        for (name, value) in header { head[name] = value }
        for (name, value) in claims { body[name] = value }
        if let removing {
            head[removing] = nil
            body[removing] = nil
        }
        let input = try base64URL(JSON.encode(head)) + "." + base64URL(JSON.encode(body))
        let sign = signature ?? { try key.signature(for: $0).rawRepresentation }
        return try input + "." + base64URL(sign(Data(input.utf8)))
    }
}
