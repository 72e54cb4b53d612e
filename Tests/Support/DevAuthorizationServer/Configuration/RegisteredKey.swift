import FoundationEssentials

/// The public key by which a client signs its assertions.
public struct RegisteredKey: Sendable, Equatable {
    let key: ProofKey
    let algorithm: String
    let identifier: String?

    /// `nil` if the text is not the JWK of a public key on P-256, P-384 or Ed25519.
    public init?(jwk text: String) {
        guard case .object(let members) = JSONValue.parse(text.utf8) else { return nil }
        switch members["crv"]?.string {
        case "P-256": algorithm = "ES256"
        case "P-384": algorithm = "ES384"
        case "Ed25519": algorithm = "EdDSA"
        default: return nil
        }
        guard members["alg"] == nil || members["alg"]?.string == algorithm,
            members["use"] == nil || members["use"] == "sig",
            let key = try? ProofKey(algorithm: algorithm, jwk: members)
        else { return nil }
        self.key = key
        identifier = members["kid"]?.string
    }

    public static func == (left: RegisteredKey, right: RegisteredKey) -> Bool {
        left.key.thumbprint == right.key.thumbprint && left.identifier == right.identifier
    }
}
