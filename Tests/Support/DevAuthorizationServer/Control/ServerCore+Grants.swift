import Synchronization

extension ServerCore {
    var grantSummaries: [GrantSummary] {
        ledger.withLock { ledger in
            ledger.grantOrder.compactMap { ledger.grants[$0].map(GrantSummary.init) }
        }
    }

    func endGrants(where isMeant: (Grant) -> Bool) -> [String] {
        let now = clock.age
        return ledger.withLock { $0.endGrants(at: now, where: isMeant) }
    }

    /// Number of grants concerned.
    func endAccessTokens(where isMeant: (Grant) -> Bool) -> Int {
        let now = clock.age
        return ledger.withLock { ledger in
            let meant = ledger.grants.values.filter(isMeant)
            for grant in meant { ledger.endAccessTokens(ofGrant: grant.id, at: now) }
            return meant.count
        }
    }

    /// `nil` when there is no such client.
    func issueGrant(user: String, client id: String, scope: [String], keyThumbprint: String?) -> IssuedGrant? {
        guard let client = clients.client(id) else { return nil }
        let now = clock.age
        let isNamed = protectedResource.withLock { $0?.requiresResourceIndicator == true }
        let resources: [String] = isNamed ? [resourceURL] : []
        let tokens = ledger.withLock { ledger in
            let grant = ledger.openGrant(user: user, client: id, scope: scope, resources: resources, at: now)
            return ledger.issueTokens(
                grant: grant, client: client, resources: resources, keyThumbprint: keyThumbprint, at: now)
        }
        let lifetime = tokens.access.expiresAt.milliseconds - tokens.access.issuedAt.milliseconds
        return IssuedGrant(
            grant: tokens.grant.id, accessToken: tokens.accessToken, refreshToken: tokens.refreshToken,
            expiresIn: Double(lifetime) / 1000)
    }
}
