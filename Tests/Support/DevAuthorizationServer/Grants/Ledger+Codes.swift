/// A token request with `grant_type=authorization_code`, its client already authenticated.
struct CodeRedemption: Sendable {
    let code: String
    let client: RegisteredClient
    let redirectURI: String
    let verifier: String?
    /// Thumbprint of the request's verified DPoP proof.
    let keyThumbprint: String?
    /// Resources asked for (RFC 8707 §2.2); empty leaves it at those of the authorization request.
    let resources: [String]
}

extension Ledger {
    /// RFC 6749 §4.1.3, RFC 7636 §4.6, RFC 9449 §10.
    mutating func redeem(_ redemption: CodeRedemption, at now: Moment) throws(OAuthError) -> IssuedTokens {
        guard let code = codes[redemption.code], code.client == redemption.client.id else {
            throw .invalidGrant("the authorization code is unknown", reason: "unknown code")
        }
        if let grant = code.grant {
            // RFC 6749 §4.1.2: what a code gave is revoked when the code comes a second time.
            counters.reuseDetected += 1
            endGrants(at: now) { $0.id == grant }
            throw .invalidGrant("the authorization code was used before", reason: "reused code")
        }
        guard code.expiresAt > now else {
            throw .invalidGrant("the authorization code has expired", reason: "expired code")
        }
        guard code.redirectURI == redemption.redirectURI else {
            throw .invalidGrant("redirect_uri is not that of the authorization request", reason: "wrong redirect_uri")
        }
        try check(redemption.verifier, against: code.challenge)
        if let bound = code.keyThumbprint, bound != redemption.keyThumbprint {
            throw .invalidDPoPProof("the code is bound to another key", reason: "wrong key")
        }
        let resources = try ResourceIndicators.narrowed(code.resources, to: redemption.resources)

        let grant = openGrant(
            user: code.user, client: code.client, scope: code.scope, resources: code.resources,
            openIDNonce: code.openIDNonce, at: now)
        codes[redemption.code]?.grant = grant.id
        grants[grant.id]?.contextClass = code.contextClass
        grants[grant.id]?.details = code.details
        return issueTokens(
            grant: grant, client: redemption.client, resources: resources,
            keyThumbprint: redemption.keyThumbprint, at: now)
    }

    mutating func issueTokens(
        grant: Grant, client: RegisteredClient, resources: [String], keyThumbprint: String?, at now: Moment
    ) -> IssuedTokens {
        let (token, record) = issueAccessToken(
            grant: grant.id, scope: grant.scope, resources: resources, keyThumbprint: keyThumbprint, at: now)
        var refreshToken: String?
        if client.receivesRefreshTokens {
            refreshToken = issueRefreshToken(
                grant: grant.id, keyThumbprint: client.isPublic ? keyThumbprint : nil, at: now)
        }
        return IssuedTokens(
            grant: grants[grant.id] ?? grant, accessToken: token, access: record, refreshToken: refreshToken)
    }

    func check(_ verifier: String?, against challenge: String?) throws(OAuthError) {
        switch (verifier, challenge) {
        case (nil, nil): return
        case (nil, .some):
            throw .invalidRequest("code_verifier is missing", reason: "no verifier")
        case (.some, nil):
            // RFC 9700 §2.1.1: a verifier without a challenge is a sign of a PKCE downgrade.
            throw .invalidGrant("code_verifier without an earlier code_challenge", reason: "unexpected verifier")
        case (.some(let verifier), .some(let challenge)):
            guard PKCE.isVerifier(verifier) else {
                throw .invalidRequest("code_verifier is malformed", reason: "malformed verifier")
            }
            guard constantTimeEquals(PKCE.challenge(of: verifier), challenge) else {
                throw .invalidGrant("code_verifier does not match", reason: "wrong verifier")
            }
        }
    }
}
