import FoundationEssentials

/// A signed statement that identifies the client (RFC 7523 §3). Each request needs its own, retries included: a `jti`
/// is valid once.
struct ClientAssertion {
    static let type = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
    /// Short, and signed right before the request is sent: the server rejects a delayed assertion that arrives after a
    /// second one.
    static let lifetime: Int64 = 30

    let rawValue: String

    init(
        key: ClientAssertionKey, clientID: ClientID, audience: String, issuedAt: Date,
        identifier: String = RandomText.make(byteCount: 16)
    ) throws(OAuthValueError) {
        var header = #"{"typ":"JWT","alg":"\#(key.algorithm.rawValue)""#
        if let keyID = key.keyID { header += #","kid":"# + JSONText.quote(keyID) }
        if let thumbprint = key.certificateThumbprint { header += #","x5t#S256":"\#(thumbprint)""# }
        header += "}"
        let issued = Int64(min(max(issuedAt.timeIntervalSince1970, 0), 1e12))
        let client = JSONText.quote(clientID.rawValue)
        let claims =
            #"{"iss":\#(client),"sub":\#(client),"aud":\#(JSONText.quote(audience)),"jti":"\#(identifier)","#
            + #""iat":\#(issued),"exp":\#(issued + Self.lifetime)}"#
        let signingInput = Base64URL.encode(header.utf8) + "." + Base64URL.encode(claims.utf8)
        rawValue = signingInput + "." + Base64URL.encode(try key.signature(for: Array(signingInput.utf8)))
    }
}
