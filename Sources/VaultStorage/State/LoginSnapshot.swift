/// The state of a login after the event in an audit row. It contains everything that events are made of, so that a
/// reader of the trail need not read a login that may have changed since.
package struct LoginSnapshot: Hashable, Sendable {
    /// Nil if the login no longer exists.
    package var state: SessionSummary?
    /// Whether the state differs from the one right before. The expiry of a token also changes it, but is recorded
    /// nowhere.
    package var isNew = false
    /// Whether the login is alive again after it was dead, ended, or needed its user.
    package var isRecovery = false
    /// The number of links of the chain that are stored.
    package var generation: Int64
    /// The login's own access token; nil if it has none.
    package var token: Token?
    package var refreshExpiresAt: Timestamp?
    /// The grant of a login with a refresh token. It may end however often the login is renewed.
    package var grant: Grant?

    package struct Token: Hashable, Sendable {
        /// The generation that brought the token.
        package var generation: Int64
        /// Nil if unknown.
        package var expiresAt: Timestamp?

        package init(generation: Int64, expiresAt: Timestamp?) {
            self.generation = generation
            self.expiresAt = expiresAt
        }
    }

    package struct Grant: Hashable, Sendable {
        package var since: Timestamp
        package var provider: ProviderHandle

        package init(since: Timestamp, provider: ProviderHandle) {
            self.since = since
            self.provider = provider
        }
    }

    package init(state: SessionSummary?, generation: Int64, token: Token? = nil) {
        self.state = state
        self.generation = generation
        self.token = token
    }

    package init(
        position: ChainPosition, session: SessionRecord, refresh: RefreshRecord?, provider: ProviderHandle?,
        at now: Timestamp
    ) {
        self.init(state: SessionSummary(session, at: now), generation: position.generation)
        if session.accessToken != nil {
            token = Token(
                generation: session.accessGeneration ?? position.generation, expiresAt: session.expiresAt)
        }
        guard let refresh, refresh.refreshToken != nil else { return }
        refreshExpiresAt = refresh.refreshExpiresAt
        let grantedAt = session.grantedAt ?? (position.chain == 1 ? session.createdAt : nil)
        if let grantedAt, let provider { grant = Grant(since: grantedAt, provider: provider) }
    }
}
