// Tokens for what another server vouches for: assertions (RFC 7523 §2.1) and token exchange (RFC 8693).
extension ServerCore {
    static let assertionGrant = "urn:ietf:params:oauth:grant-type:jwt-bearer"
    static let exchangeGrant = "urn:ietf:params:oauth:grant-type:token-exchange"
    static let accessTokenType = "urn:ietf:params:oauth:token-type:access_token"
    private static let jwtType = "urn:ietf:params:oauth:token-type:jwt"

    func redeemAssertion(
        _ form: FormParameters, client: RegisteredClient, key: String?
    ) throws(OAuthError) -> IssuedTokens {
        try issue(form, vouchedForBy: try form.required("assertion"), client: client, key: key)
    }

    func exchangeToken(
        _ form: FormParameters, client: RegisteredClient, key: String?
    ) throws(OAuthError) -> IssuedTokens {
        let token = try form.required("subject_token")
        guard try form.required("subject_token_type") == Self.jwtType,
            (form["requested_token_type"] ?? Self.accessTokenType) == Self.accessTokenType
        else { throw .invalidRequest("this type of token is not supported", reason: "token type") }
        if let audience = form["audience"], audience != issuer {
            throw .invalidTarget("the audience is unknown", reason: "unknown audience")
        }
        return try issue(form, vouchedForBy: token, client: client, key: key)
    }

    /// A refresh token comes only where it is asked for by scope.
    private func issue(
        _ form: FormParameters, vouchedForBy text: String, client: RegisteredClient, key: String?
    ) throws(OAuthError) -> IssuedTokens {
        guard let token = CompactJWS(text) else {
            throw .invalidGrant("the token is not a JWT", reason: "malformed token")
        }
        let user = try clients.assertions.subject(
            of: token, issuers: configuration.trustedIssuers, audiences: [issuer, base + "/token"])
        let scope = try form["scope"].map { text throws(OAuthError) in try ScopeList.parse(text) } ?? ["read"]
        guard scope.allSatisfy(knownScopes.contains) else {
            throw .invalidScope("a scope is unknown", reason: "unknown scope")
        }
        let given = granted(scope)
        let resources = try resources(of: form)
        return try withLedger { (ledger, now) throws(OAuthError) in
            let grant = ledger.openGrant(user: user, client: client.id, scope: given, resources: resources, at: now)
            if given.contains("offline_access") {
                return ledger.issueTokens(
                    grant: grant, client: client, resources: resources, keyThumbprint: key, at: now)
            }
            let (token, record) = ledger.issueAccessToken(
                grant: grant.id, scope: given, resources: resources, keyThumbprint: key, at: now)
            return IssuedTokens(grant: grant, accessToken: token, access: record, refreshToken: nil)
        }
    }
}
