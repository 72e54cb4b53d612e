/// All that the server remembers about grants. A value without I/O: every method takes the time as an argument.
struct Ledger: Sendable {
    let configuration: AuthorizationServerConfiguration
    let secrets: SecretSource

    var grants: [String: Grant] = [:]
    /// Identifiers of `grants` in the order of their making.
    var grantOrder: [String] = []
    var codes: [String: CodeRecord] = [:]
    var devices: [String: DeviceRecord] = [:]
    var accessTokens: [String: AccessRecord] = [:]
    var refreshTokens: [String: RefreshRecord] = [:]
    /// Keys of `refreshTokens` in the order of their making.
    var refreshTokenOrder: [String] = []
    /// The grant under which a client acts for itself.
    var ownGrants: [String: String] = [:]
    var counters = ServerCounters()
    var behaviours: Behaviours

    init(configuration: AuthorizationServerConfiguration) {
        self.configuration = configuration
        secrets = SecretSource(marker: configuration.secretMarker)
        behaviours = Behaviours(configuration)
    }

    mutating func issueCode(_ record: CodeRecord) -> String {
        let code = secrets.make("ac_")
        codes[code] = record
        counters.codesIssued += 1
        return code
    }

    mutating func openGrant(
        user: String, client: String, scope: [String], resources: [String] = [], openIDNonce: String? = nil,
        at now: Moment
    ) -> Grant {
        let grant = Grant(
            id: "g\(grantOrder.count + 1)", user: user, client: client, scope: scope, resources: resources,
            createdAt: now, openIDNonce: openIDNonce)
        grants[grant.id] = grant
        grantOrder.append(grant.id)
        return grant
    }

    mutating func issueAccessToken(
        grant: String, scope: [String], resources: [String], keyThumbprint: String?, at now: Moment
    ) -> (String, AccessRecord) {
        if configuration.keepsOneAccessToken { endAccessTokens(ofGrant: grant, at: now) }
        let behaviour = behaviours.behaviour(of: grants[grant]?.client)
        let token = secrets.make("at_", length: configuration.accessTokenLength)
        let record = AccessRecord(
            grant: grant, scope: scope, resources: resources, keyThumbprint: keyThumbprint, issuedAt: now,
            expiresAt: now + behaviour.accessTokenLifetime)
        accessTokens[token] = record
        counters.accessTokensIssued += 1
        return (token, record)
    }

    mutating func issueRefreshToken(grant: String, keyThumbprint: String?, at now: Moment) -> String {
        let token = secrets.make("rt_")
        let opened = grants[grant]?.createdAt ?? now
        refreshTokens[token] = RefreshRecord(
            grant: grant, keyThumbprint: keyThumbprint, issuedAt: now,
            expiresAt: configuration.refreshTokenLifetime.map { opened + $0 })
        refreshTokenOrder.append(token)
        grants[grant]?.generation += 1
        grants[grant]?.currentRefreshToken = token
        grants[grant]?.keyThumbprint = keyThumbprint
        counters.refreshTokensIssued += 1
        return token
    }

    /// The user and grant behind any code or token, without touching it.
    func owner(of secret: String) -> (user: String, grant: String?)? {
        if let code = codes[secret] { return (code.user, code.grant) }
        guard let id = refreshTokens[secret]?.grant ?? accessTokens[secret]?.grant, let grant = grants[id] else {
            return nil
        }
        return (grant.user, id)
    }

    func liveAccess(_ token: String, at now: Moment) -> (record: AccessRecord, grant: Grant)? {
        guard let record = accessTokens[token], record.expiresAt > now,
            let grant = grants[record.grant], grant.isLive
        else { return nil }
        return (record, grant)
    }

    func liveRefresh(_ token: String, at now: Moment) -> (record: RefreshRecord, grant: Grant)? {
        guard let record = refreshTokens[token], record.spentAt == nil,
            record.expiresAt.map({ $0 > now }) ?? true,
            let grant = grants[record.grant], grant.isLive
        else { return nil }
        return (record, grant)
    }
}
