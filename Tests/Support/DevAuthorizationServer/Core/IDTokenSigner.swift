import CryptoExtras
import FoundationEssentials
import JWTKit

/// The claims of an id token (OpenID Connect Core §2).
struct IDTokenClaims: JWTPayload {
    let iss: String
    let sub: String
    let aud: String
    let exp: Int64
    let iat: Int64
    let nonce: String?
    let acr: String?
    let authTime: Int64?

    enum CodingKeys: String, CodingKey {
        case iss, sub, aud, exp, iat, nonce, acr
        case authTime = "auth_time"
    }

    func verify(using algorithm: some JWTAlgorithm) async throws {}
}

/// Signs id tokens with a key that lives as long as the server.
struct IDTokenSigner: Sendable {
    static let keyIdentifier = "id-token-1"
    private let keys: JWTKeyCollection
    /// The body of `/jwks` (RFC 7517 §5).
    let keySet: JSONValue

    init(algorithm: AuthorizationServerConfiguration.SigningAlgorithm) async throws {
        let kid = JWKIdentifier(string: Self.keyIdentifier)
        var members: [String: JSONValue] = [
            "alg": .string(algorithm.rawValue), "kid": .string(Self.keyIdentifier), "use": "sig",
        ]
        switch algorithm {
        case .es256:
            let key = ES256PrivateKey()
            keys = await JWTKeyCollection().add(ecdsa: key, kid: kid)
            members["kty"] = "EC"
            members["crv"] = "P-256"
            if let point = key.parameters {
                members["x"] = .string(Self.urlSafe(point.x))
                members["y"] = .string(Self.urlSafe(point.y))
            }
        case .rs256:
            let key = try Insecure.RSA.PrivateKey(backing: _RSA.Signing.PrivateKey(keySize: .bits2048))
            keys = await JWTKeyCollection().add(rsa: key, digestAlgorithm: .sha256, kid: kid)
            let numbers = try key.publicKey.getKeyPrimitives()
            members["kty"] = "RSA"
            members["n"] = .string(Base64URL.encode(numbers.modulus))
            members["e"] = .string(Base64URL.encode(numbers.publicExponent))
        }
        keySet = ["keys": [.object(members)]]
    }

    func sign(_ claims: IDTokenClaims) async throws -> String {
        try await keys.sign(claims, kid: JWKIdentifier(string: Self.keyIdentifier))
    }

    private static func urlSafe(_ base64: String) -> String {
        Data(base64Encoded: base64).map { Base64URL.encode($0) } ?? base64
    }
}
