/// A proof whose form and signature are good (RFC 9449 §4.2); what it claims is still to be compared.
struct DPoPProof: Sendable {
    let thumbprint: String
    let identifier: String
    let method: String
    let target: String
    /// `iat`, in seconds since 1970.
    let issuedAt: Double
    let accessTokenHash: String?
    let nonce: String?

    /// RFC 9449 §4.3, items 2 to 7.
    init(parsing text: String) throws(OAuthError) {
        guard let jws = CompactJWS(text) else { throw Self.malformed("the DPoP header is not one signed JWT") }
        let (header, claims) = (jws.header, jws.claims)

        guard header["typ"] == "dpop+jwt" else {
            throw .invalidDPoPProof("typ is not dpop+jwt", reason: "wrong typ")
        }
        guard let algorithm = header["alg"]?.string, ProofKey.algorithms.contains(algorithm) else {
            throw .invalidDPoPProof("alg is not supported", reason: "wrong alg")
        }
        guard header["crit"] == nil else {
            throw .invalidDPoPProof("crit names an unsupported extension", reason: "crit")
        }
        guard case .object(let jwk) = header["jwk"] else { throw Self.malformed("jwk is missing") }
        let key = try ProofKey(algorithm: algorithm, jwk: jwk)
        guard key.isValid(jws.signature, over: jws.signingInput) else {
            throw .invalidDPoPProof("the signature is wrong", reason: "wrong signature")
        }

        guard let identifier = claims["jti"]?.string, (1...512).contains(identifier.utf8.count),
            let method = claims["htm"]?.string, let target = claims["htu"]?.string,
            let issuedAt = claims["iat"]?.numericDate
        else { throw Self.malformed("jti, htm, htu or iat is missing") }
        guard Self.isStringOrAbsent(claims["ath"]), Self.isStringOrAbsent(claims["nonce"]) else {
            throw Self.malformed("ath or nonce is not a string")
        }
        thumbprint = key.thumbprint
        self.identifier = identifier
        self.method = method
        self.target = target
        self.issuedAt = issuedAt
        accessTokenHash = claims["ath"]?.string
        nonce = claims["nonce"]?.string
    }

    private static func isStringOrAbsent(_ value: JSONValue?) -> Bool {
        value == nil || value?.string != nil
    }

    private static func malformed(_ description: String) -> OAuthError {
        .invalidDPoPProof(description, reason: "malformed proof")
    }
}
