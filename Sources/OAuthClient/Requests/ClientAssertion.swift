import FoundationEssentials

/// A signed statement of who the client is (RFC 7523 §3). One for each request, repeats included: its `jti` counts once.
struct ClientAssertion {
    static let type = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
    /// Signed right before the request is sent, and short: one that is held up on its way and comes after a second one is
    /// refused by the server itself.
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
