import Crypto
import CryptoExtras
import FoundationEssentials

/// A public key that verifies signatures (RFC 7517, RFC 7518 §6, RFC 8037 §2).
struct JSONWebKey: Sendable {
    private enum Material: Sendable {
        case rsa(_RSA.Signing.PublicKey)
        case p256(P256.Signing.PublicKey)
        case p384(P384.Signing.PublicKey)
        case p521(P521.Signing.PublicKey)
        case ed25519(Curve25519.Signing.PublicKey)
    }

    let keyID: String?
    /// The only algorithm that the key may be used with, if the set names one.
    private let algorithm: String?
    private let material: Material

    /// Nil for a key of another use or kind, or of an unsafe size.
    init?(_ object: JSONObject) {
        func text(_ name: String) -> String? { if case .string(let text)? = object[name] { text } else { nil } }
        func bytes(_ name: String) -> [UInt8]? { text(name).flatMap { Base64URL.decode($0) } }
        guard text("use") ?? "sig" == "sig" else { return nil }
        keyID = text("kid")
        algorithm = text("alg")
        switch (text("kty"), text("crv")) {
        case ("RSA", _):
            guard let n = bytes("n").map({ $0.drop { $0 == 0 } }), let e = bytes("e"), (256...1_024).contains(n.count),
                (1...8).contains(e.count), let key = try? _RSA.Signing.PublicKey(n: Array(n), e: e)
            else { return nil }
            material = .rsa(key)
        case ("EC", let curve?):
            guard let x = bytes("x"), let y = bytes("y"), let found = Self.point(curve, x + y) else { return nil }
            material = found
        case ("OKP", "Ed25519"):
            guard let x = bytes("x"), let key = try? Curve25519.Signing.PublicKey(rawRepresentation: x) else {
                return nil
            }
            material = .ed25519(key)
        default: return nil
        }
    }

    private static func point(_ curve: String, _ point: [UInt8]) -> Material? {
        switch curve {
        case "P-256": (try? P256.Signing.PublicKey(rawRepresentation: point)).map { .p256($0) }
        case "P-384": (try? P384.Signing.PublicKey(rawRepresentation: point)).map { .p384($0) }
        case "P-521": (try? P521.Signing.PublicKey(rawRepresentation: point)).map { .p521($0) }
        default: nil
        }
    }

    /// Whether the key supports the algorithm. The token names the algorithm; the key decides whether it is allowed.
    func fits(_ algorithm: JWSAlgorithm) -> Bool {
        guard self.algorithm == nil || self.algorithm == algorithm.rawValue else { return false }
        return switch (material, algorithm) {
        case (.rsa, .rs256), (.rsa, .rs384), (.rsa, .rs512), (.rsa, .ps256), (.rsa, .ps384), (.rsa, .ps512),
            (.p256, .es256), (.p384, .es384), (.p521, .es512), (.ed25519, .edDSA), (.ed25519, .ed25519):
            true
        default: false
        }
    }

    func isValid(_ signature: [UInt8], of input: [UInt8], by algorithm: JWSAlgorithm) -> Bool {
        guard fits(algorithm) else { return false }
        switch material {
        case .rsa(let key): return Self.isValid(signature, of: input, by: algorithm, key)
        case .p256(let key):
            guard let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature) else { return false }
            return key.isValidSignature(signature, for: SHA256.hash(data: input))
        case .p384(let key):
            guard let signature = try? P384.Signing.ECDSASignature(rawRepresentation: signature) else { return false }
            return key.isValidSignature(signature, for: SHA384.hash(data: input))
        case .p521(let key):
            guard let signature = try? P521.Signing.ECDSASignature(rawRepresentation: signature) else { return false }
            return key.isValidSignature(signature, for: SHA512.hash(data: input))
        case .ed25519(let key): return key.isValidSignature(signature, for: input)
        }
    }

    private static func isValid(
        _ signature: [UInt8], of input: [UInt8], by algorithm: JWSAlgorithm, _ key: _RSA.Signing.PublicKey
    ) -> Bool {
        let signature = _RSA.Signing.RSASignature(rawRepresentation: signature)
        return switch algorithm {
        case .rs256: key.isValidSignature(signature, for: SHA256.hash(data: input), padding: .insecurePKCS1v1_5)
        case .rs384: key.isValidSignature(signature, for: SHA384.hash(data: input), padding: .insecurePKCS1v1_5)
        case .rs512: key.isValidSignature(signature, for: SHA512.hash(data: input), padding: .insecurePKCS1v1_5)
        case .ps256: key.isValidSignature(signature, for: SHA256.hash(data: input), padding: .PSS)
        case .ps384: key.isValidSignature(signature, for: SHA384.hash(data: input), padding: .PSS)
        case .ps512: key.isValidSignature(signature, for: SHA512.hash(data: input), padding: .PSS)
        default: false
        }
    }
}

/// A signature algorithm of JWTs (RFC 7518 §3.1, RFC 8037 §3.1, RFC 9864). `none` is not among them.
enum JWSAlgorithm: String, Hashable, Sendable, CaseIterable {
    case rs256 = "RS256"
    case rs384 = "RS384"
    case rs512 = "RS512"
    case ps256 = "PS256"
    case ps384 = "PS384"
    case ps512 = "PS512"
    case es256 = "ES256"
    case es384 = "ES384"
    case es512 = "ES512"
    case edDSA = "EdDSA"
    case ed25519 = "Ed25519"
    case hs256 = "HS256"
    case hs384 = "HS384"
    case hs512 = "HS512"

    /// Whether the client's secret is the key (OpenID Connect Core §10.1).
    var isSymmetric: Bool {
        switch self {
        case .hs256, .hs384, .hs512: true
        default: false
        }
    }

    func isValid(_ code: [UInt8], of input: [UInt8], secret: ClientSecret) -> Bool {
        let key = SymmetricKey(data: Array(secret.reveal().utf8))
        return switch self {
        case .hs256: HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: input, using: key)
        case .hs384: HMAC<SHA384>.isValidAuthenticationCode(code, authenticating: input, using: key)
        case .hs512: HMAC<SHA512>.isValidAuthenticationCode(code, authenticating: input, using: key)
        default: false
        }
    }
}
