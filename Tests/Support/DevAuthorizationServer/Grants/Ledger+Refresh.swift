/// A token request with `grant_type=refresh_token`, its client already authenticated.
struct RefreshRedemption: Sendable {
    let token: String
    let client: RegisteredClient
    /// Requested scope; `nil` when the parameter is absent.
    let scope: [String]?
    /// Resources asked for (RFC 8707 §2.2); empty leaves it at those of the grant.
    let resources: [String]
    let keyThumbprint: String?
}

extension Ledger {
    /// RFC 6749 §6, RFC 9700 §4.14.2, RFC 9449 §5.
    mutating func redeem(_ redemption: RefreshRedemption, at now: Moment) throws(OAuthError) -> IssuedTokens {
        guard let record = refreshTokens[redemption.token], let grant = grants[record.grant],
            grant.client == redemption.client.id
        else {
            throw .invalidGrant("the refresh token is unknown", reason: "unknown refresh token")
        }
        count(redemption.token, \.refreshRequests, \.presented)
        guard grant.isLive else {
            throw .invalidGrant("the grant was revoked", reason: "revoked grant")
        }
        // Before reuse detection, or a thief without the key could end the login of the honest holder.
        if let bound = record.keyThumbprint, bound != redemption.keyThumbprint {
            throw .invalidDPoPProof("the refresh token is bound to another key", reason: "wrong key")
        }
        if let expiresAt = record.expiresAt, expiresAt <= now {
            throw .invalidGrant("the refresh token has expired", reason: "expired refresh token")
        }
        let scope = redemption.scope ?? grant.scope
        guard scope.allSatisfy(grant.scope.contains) else {
            throw .invalidScope("the scope is wider than what was granted", reason: "wider scope")
        }
        let resources = try ResourceIndicators.narrowed(grant.resources, to: redemption.resources)
        let successor = try self.successor(of: redemption, record: record, grant: grant, at: now)
        let (token, access) = issueAccessToken(
            grant: grant.id, scope: scope, resources: resources, keyThumbprint: redemption.keyThumbprint, at: now)
        count(redemption.token, nil, \.redeemed)
        return IssuedTokens(
            grant: grants[grant.id] ?? grant, accessToken: token, access: access, refreshToken: successor)
    }

    /// The refresh token to send along, or `nil` when the one presented stays.
    private mutating func successor(
        of redemption: RefreshRedemption, record: RefreshRecord, grant: Grant, at now: Moment
    ) throws(OAuthError) -> String? {
        let behaviour = behaviours.behaviour(of: grant.client)
        if let successor = record.successor, let spentAt = record.spentAt {
            let isUntouched = refreshTokens[successor]?.spentAt == nil
            if isUntouched, now <= spentAt + behaviour.graceWindow, behaviour.graceWindow > .zero {
                count(redemption.token, \.replayedInGrace, \.replayedInGrace)
                return successor
            }
            count(redemption.token, \.reuseDetected, \.reuseDetected)
            switch behaviour.reuse {
            case .refuse: break
            case .revoke: endGrants(at: now) { $0.id == grant.id }
            case .revokeUser: endGrants(at: now) { $0.client == grant.client && $0.user == grant.user }
            }
            throw .invalidGrant("the refresh token was used before", reason: "reused refresh token")
        }
        guard behaviour.rotation == .always else { return nil }
        let key = redemption.client.isPublic ? redemption.keyThumbprint ?? record.keyThumbprint : nil
        let successor = issueRefreshToken(grant: grant.id, keyThumbprint: key, at: now)
        refreshTokens[redemption.token]?.successor = successor
        refreshTokens[redemption.token]?.spentAt = now
        count(redemption.token, \.rotated, \.rotated)
        return successor
    }

    /// Counts for the server, for the grant and for the token.
    private mutating func count(
        _ token: String, _ counter: WritableKeyPath<ServerCounters, Int>?, _ tally: WritableKeyPath<RefreshTally, Int>
    ) {
        if let counter { counters[keyPath: counter] += 1 }
        refreshTokens[token]?.tally[keyPath: tally] += 1
        if let grant = refreshTokens[token]?.grant { grants[grant]?.tally[keyPath: tally] += 1 }
    }
}
