import Crypto
import FoundationEssentials

/// The public key in the header of a proof, with the algorithm it verifies.
enum ProofKey: Sendable {
    case es256(P256.Signing.PublicKey, x: String, y: String)
    case es384(P384.Signing.PublicKey, x: String, y: String)
    case ed25519(Curve25519.Signing.PublicKey, x: String)

    static let algorithms = ["ES256", "ES384", "EdDSA"]
    private static let privateMembers = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"]

    init(algorithm: String, jwk: [String: JSONValue]) throws(OAuthError) {
        guard Self.privateMembers.allSatisfy({ jwk[$0] == nil }) else {
            throw .invalidDPoPProof("jwk holds a private key", reason: "private jwk")
        }
        let shape = (algorithm, jwk["kty"]?.string, jwk["crv"]?.string)
        switch shape {
        case ("ES256", "EC", "P-256"):
            let (x, y, point) = try Self.point(jwk, size: 32)
            self = .es256(try Self.parsed { try P256.Signing.PublicKey(x963Representation: point) }, x: x, y: y)
        case ("ES384", "EC", "P-384"):
            let (x, y, point) = try Self.point(jwk, size: 48)
            self = .es384(try Self.parsed { try P384.Signing.PublicKey(x963Representation: point) }, x: x, y: y)
        case ("EdDSA", "OKP", "Ed25519"):
            guard let x = jwk["x"]?.string, let bytes = Base64URL.decode(x), bytes.count == 32 else {
                throw Self.malformed
            }
            self = .ed25519(
                try Self.parsed { try Curve25519.Signing.PublicKey(rawRepresentation: bytes) }, x: x)
        default:
            throw .invalidDPoPProof("this pair of alg and jwk is not supported", reason: "unsupported key")
        }
    }

    func isValid(_ signature: [UInt8], over input: some Sequence<UInt8>) -> Bool {
        let input = Data(input)
        switch self {
        case .es256(let key, _, _):
            // JWS signatures are r ‖ s (RFC 7518 §3.4), never DER.
            guard let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature) else { return false }
            return key.isValidSignature(signature, for: input)
        case .es384(let key, _, _):
            guard let signature = try? P384.Signing.ECDSASignature(rawRepresentation: signature) else { return false }
            return key.isValidSignature(signature, for: input)
        case .ed25519(let key, _):
            return key.isValidSignature(signature, for: input)
        }
    }

    /// RFC 7638 §3: the required members in lexical order, without white space.
    var thumbprint: String {
        let members =
            switch self {
            case .es256(_, let x, let y): #"{"crv":"P-256","kty":"EC","x":"\#(x)","y":"\#(y)"}"#
            case .es384(_, let x, let y): #"{"crv":"P-384","kty":"EC","x":"\#(x)","y":"\#(y)"}"#
            case .ed25519(_, let x): #"{"crv":"Ed25519","kty":"OKP","x":"\#(x)"}"#
            }
        return Base64URL.encode(SHA256.hash(data: Data(members.utf8)))
    }

    private static let malformed = OAuthError.invalidDPoPProof("jwk is malformed", reason: "malformed jwk")

    /// Coordinates are as long as the field (RFC 7518 §6.2.1.2), so a left-trimmed one is refused.
    private static func point(
        _ jwk: [String: JSONValue], size: Int
    ) throws(OAuthError) -> (x: String, y: String, point: [UInt8]) {
        guard let x = jwk["x"]?.string, let y = jwk["y"]?.string,
            let first = Base64URL.decode(x), let second = Base64URL.decode(y),
            first.count == size, second.count == size
        else { throw malformed }
        return (x, y, [4] + first + second)
    }

    private static func parsed<Key>(_ make: () throws -> Key) throws(OAuthError) -> Key {
        do { return try make() } catch { throw malformed }
    }
}
