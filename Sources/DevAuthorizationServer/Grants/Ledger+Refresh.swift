/// A token request with `grant_type=refresh_token`, its client already authenticated.
struct RefreshRedemption: Sendable {
    let token: String
    let client: RegisteredClient
    /// Requested scope; `nil` when the parameter is absent.
    let scope: [String]?
    let keyThumbprint: String?
}

extension Ledger {
    /// RFC 6749 §6, RFC 9700 §4.14.2, RFC 9449 §5.
    mutating func redeem(_ redemption: RefreshRedemption, at now: Moment) throws(OAuthError) -> IssuedTokens {
        guard let record = refreshTokens[redemption.token], let grant = grants[record.grant],
            grant.client == redemption.client.id
        else {
            throw .invalidGrant("the refresh token is not known", reason: "unknown refresh token")
        }
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
        let successor = try self.successor(of: redemption, record: record, grant: grant, at: now)
        let (token, access) = issueAccessToken(
            grant: grant.id, scope: scope, keyThumbprint: redemption.keyThumbprint, at: now)
        return IssuedTokens(
            grant: grants[grant.id] ?? grant, accessToken: token, access: access, refreshToken: successor)
    }

    /// The refresh token to send along, or `nil` when the one presented stays.
    private mutating func successor(
        of redemption: RefreshRedemption, record: RefreshRecord, grant: Grant, at now: Moment
    ) throws(OAuthError) -> String? {
        if let successor = record.successor, let spentAt = record.spentAt {
            let isUntouched = refreshTokens[successor]?.spentAt == nil
            if isUntouched, now <= spentAt + configuration.graceWindow, configuration.graceWindow > .zero {
                counters.replayedInGrace += 1
                return successor
            }
            counters.reuseDetected += 1
            if configuration.reuseResponse == .revoke { endGrants(at: now) { $0.id == grant.id } }
            throw .invalidGrant("the refresh token was used before", reason: "reused refresh token")
        }
        guard configuration.refreshRotation == .always else { return nil }
        let key = redemption.client.isPublic ? redemption.keyThumbprint ?? record.keyThumbprint : nil
        let successor = issueRefreshToken(grant: grant.id, keyThumbprint: key, at: now)
        refreshTokens[redemption.token]?.successor = successor
        refreshTokens[redemption.token]?.spentAt = now
        counters.rotated += 1
        return successor
    }
}
