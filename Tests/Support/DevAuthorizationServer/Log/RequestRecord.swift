/// One line of the request log. Secrets appear as fingerprints (`TokenFingerprint`) only.
public struct RequestRecord: Sendable, Codable, Equatable {
    /// Counts up from 1 and never starts again, not even when the log is cleared.
    public var sequence = 0
    /// Wall clock of the server, milliseconds since 1970.
    public var time: Int64 = 0
    public var method = ""
    /// Path below the issuer's, without the query.
    public var path = ""
    public var grantType: String?
    public var client: String?
    public var user: String?
    /// Identifier of the grant that the request was about or that it opened.
    public var grant: String?
    /// Fingerprints by role: `code`, `refresh_token`, `token`, `access_token`, `issued_access_token`,
    /// `issued_refresh_token`, `issued_code`, `issued_request_uri`.
    public var tokens: [String: String] = [:]
    /// Thumbprint of the key that signed the request's DPoP proof, if the proof's form and signature were good.
    public var proofKey: String?
    public var proofID: String?
    public var proofNonce: String?
    /// `jti` of the client assertion, if there was one in the right form.
    public var assertionID: String?
    /// Values of `resource`.
    public var resources: [String] = []
    /// `ok`, or the error code that was found; for a fault that hides it, still what the server did.
    public var outcome = "ok"
    /// Short constant words for why it was refused.
    public var reason: String?
    /// Status that was sent; 0 when no reply went out.
    public var status = 0
    /// Name of the fault that was played.
    public var fault: String?
    /// Whether the server acted on the request; `false` when a fault answered in its place.
    public var acted = true

    public init() {}

    enum CodingKeys: String, CodingKey {
        case sequence, time, method, path, client, user, grant, tokens, resources, outcome, reason, status, fault, acted
        case grantType = "grant_type"
        case proofKey = "proof_key"
        case proofID = "proof_id"
        case proofNonce = "proof_nonce"
        case assertionID = "assertion_id"
    }

    mutating func note(_ role: String, _ secret: String?) {
        tokens[role] = secret.map(TokenFingerprint.of)
    }

    mutating func note(_ proof: DPoPProof) {
        proofKey = proof.thumbprint
        proofID = proof.identifier
        proofNonce = proof.nonce
    }
}
