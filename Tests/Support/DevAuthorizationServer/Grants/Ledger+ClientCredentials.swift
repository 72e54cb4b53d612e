extension Ledger {
    /// A token for the client itself (RFC 6749 §4.4), without a refresh token (§4.4.3).
    ///
    /// All such tokens of a client belong to one grant, whose user is the client.
    mutating func issueOwnToken(
        of client: RegisteredClient, scope: [String], resources: [String], keyThumbprint: String?, at now: Moment
    ) -> IssuedTokens {
        let grant: Grant
        if let known = ownGrants[client.id].flatMap({ grants[$0] }), known.isLive {
            grant = known
        } else {
            grant = openGrant(user: client.id, client: client.id, scope: scope, at: now)
            ownGrants[client.id] = grant.id
        }
        let (token, record) = issueAccessToken(
            grant: grant.id, scope: scope, resources: resources, keyThumbprint: keyThumbprint, at: now)
        return IssuedTokens(grant: grant, accessToken: token, access: record, refreshToken: nil)
    }
}
