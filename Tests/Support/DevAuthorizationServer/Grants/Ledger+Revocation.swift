extension Ledger {
    /// Ends the matching grants with every token of theirs.
    @discardableResult
    mutating func endGrants(at now: Moment, where isMeant: (Grant) -> Bool) -> [String] {
        let ended = grantOrder.filter { id in grants[id].map { $0.isLive && isMeant($0) } ?? false }
        for id in ended { grants[id]?.revokedAt = now }
        counters.grantsRevoked += ended.count
        return ended
    }

    /// Expires access tokens; the refresh token stays valid.
    mutating func endAccessTokens(ofGrant grant: String, at now: Moment) {
        for (token, record) in accessTokens where record.grant == grant && record.expiresAt > now {
            accessTokens[token]?.expiresAt = now
        }
    }

    /// RFC 7009 §2: a refresh token takes its grant along, an access token goes alone, an unknown token is no error.
    mutating func revoke(_ token: String, for client: RegisteredClient, at now: Moment) throws(OAuthError) -> Bool {
        guard let id = refreshTokens[token]?.grant ?? accessTokens[token]?.grant, let grant = grants[id] else {
            return false
        }
        guard grant.client == client.id else {
            throw .invalidGrant("the token was issued to another client", reason: "wrong client")
        }
        if accessTokens[token] != nil {
            accessTokens[token]?.expiresAt = now
        } else {
            endGrants(at: now) { $0.id == id }
        }
        return true
    }
}
