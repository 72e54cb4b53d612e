/// How a login stands after what an audit row records: everything that events are made of, so that no reader of the trail
/// has to look at a login that may have moved on.
package struct LoginSnapshot: Hashable, Sendable {
    /// Nil: the login is gone.
    package var state: SessionSummary?
    /// Whether the state is another one than right before. The expiry of a token is written nowhere, and changes it alone.
    package var isNew = false
    /// Whether the login lives again, after it was dead, ended, or needed its user.
    package var isRecovery = false
    /// How many links of the chain are stored.
    package var generation: Int64
    /// The login's own access token; nil: it has none.
    package var token: Token?
    package var refreshExpiresAt: Timestamp?
    /// Of a login with a refresh token, whose grant may end however often it is renewed.
    package var grant: Grant?

    package struct Token: Hashable, Sendable {
        /// The one that brought it.
        package var generation: Int64
        /// Nil: not known.
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
