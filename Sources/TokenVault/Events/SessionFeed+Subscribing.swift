import VaultStorage

/// The state of a scope when a subscription to it begins.
struct FeedBeginning: Sendable {
    /// The last audit row before the subscription.
    let head: Int64
    var user: UserHandle?
    var logins: [WatchedLogin] = []
}

extension SessionFeed {
    func subscribeToEvents(_ scope: FeedScope) -> FeedSubscription<SessionEvent> {
        let timeSource = timeSource
        let buffer = EventBuffer<SessionEvent>(
            limit: options.bufferLimit,
            overflow: .count { count in
                SessionEvent(.missed(count: count), login: nil, userId: nil, generation: nil, date: timeSource.now())
            })
        return FeedSubscription(buffer, self) { await self.addReader(of: scope, buffer) }
    }

    private func addReader(of scope: FeedScope, _ buffer: EventBuffer<SessionEvent>) async -> Int? {
        do {
            return try await enter(scope) { beginning in
                // Events that were already due are reported first, to this subscriber.
                var due: [SessionEvent] = []
                for index in beginning.logins.indices { due += beginning.logins[index].reportDue(now, options) }
                let greeting = due.sorted { $0.date < $1.date }
                return (.events(buffer), { for event in greeting { buffer.put(event) } })
            }
        } catch {
            let code = (VaultError.publicError(error) as? VaultError)?.code ?? .storageFailed
            if code != .closed {
                buffer.put(
                    SessionEvent(.error(code), login: nil, userId: nil, generation: nil, date: timeSource.now()))
            }
            return nil
        }
    }

    /// States kept for a subscriber that has not fetched them. More than a login goes through between two checks.
    private static let mostStates = 64

    func subscribeToStates(_ scope: FeedScope) -> FeedSubscription<SessionState> {
        let buffer = EventBuffer<SessionState>(limit: Self.mostStates, overflow: .dropOldest)
        return FeedSubscription(buffer, self) { await self.addReader(of: scope, buffer) }
    }

    private func addReader(of scope: FeedScope, _ buffer: EventBuffer<SessionState>) async -> Int? {
        try? await enter(scope) { beginning in
            let states = beginning.logins.map(\.state)
            let first =
                switch scope {
                case .user(let id): SessionState.of(userWith: states, isLoggingIn: isLoggingIn(id))
                case .login, .all: states.first ?? .notLoggedIn
                }
            return (.states(buffer, last: first), { buffer.put(first) })
        }
    }

    /// Reads the scope, and enters its subscriber before a later row is reported: if one has been, it reads again. Only rows
    /// of other processes, and of changes that had begun, come in between.
    private func enter(
        _ scope: FeedScope, _ prepare: (inout FeedBeginning) -> (sink: FeedSubscriber.Sink, greeting: () -> Void)
    ) async throws -> Int? {
        while true {
            var beginning = try await begin(scope)
            let (sink, greeting) = prepare(&beginning)
            var subscriber = FeedSubscriber(scope: scope, sink: sink, user: beginning.user, from: beginning.head)
            // States are told when they differ from the one before.
            if case .events = sink { for login in beginning.logins { subscriber.known[login.login] = login } }
            switch add(subscriber, beginning, greeting: greeting) {
            case .entered(let number): return number
            // After a failover, the feed may still be at a row that is gone.
            case .isOutdated: await catchUp()
            case .isClosed: return nil
            }
        }
    }

    private func begin(_ scope: FeedScope) async throws -> FeedBeginning {
        var beginning = FeedBeginning(head: try await store.auditHead())
        let logins: [LoginHandle]
        switch scope {
        case .all: logins = []
        case .login(let login): logins = [login]
        case .user(let id):
            do throws(StoreError) {
                let user = try await store.user(id)
                beginning.user = user.handle
                logins = user.logins
            } catch {
                guard error.code == .notFound(.user) else { throw error }
                logins = []
            }
        }
        var lifetimes: [ProviderHandle: GrantLifetime] = [:]
        for login in logins {
            if let watched = try await read(login, &lifetimes) { beginning.logins.append(watched) }
        }
        return beginning
    }

    // MARK: Logins

    /// A login as it is now; nil if it is gone, or cannot be opened.
    ///
    /// - Parameter lifetimes: The lifetimes of grants that have been read.
    func read(
        _ login: LoginHandle, _ lifetimes: inout [ProviderHandle: GrantLifetime]
    ) async throws(StoreError) -> WatchedLogin? {
        guard let (stored, asOf) = try await readWithHead(login) else { return nil }
        let look = LoginSnapshot(
            position: stored.position, session: stored.session, refresh: stored.refresh, provider: stored.provider,
            at: now)
        var lifetime: GrantLifetime?
        if let provider = look.grant?.provider {
            lifetime = if let known = lifetimes[provider] { known } else { try await grantLifetime(provider) }
            lifetimes[provider] = lifetime
        }
        let end = RefreshEnd(look, lifetime, obtainedAt: stored.session.obtainedAt, options)
        return WatchedLogin(login: login, user: stored.user, userId: stored.userId, look, end, asOf: asOf)
    }

    /// Nil: the provider cannot be read.
    func grantLifetime(_ provider: ProviderHandle) async throws(StoreError) -> GrantLifetime? {
        let record = try await Self.unlessLost { () async throws(StoreError) in
            try await store.provider(provider).record
        }
        guard let profile = try? record?.profile else { return nil }
        return GrantLifetime(profile.refresh.absoluteLifetime)
    }

    /// Nil: the user is gone, or cannot be read.
    func name(of user: UserHandle) async throws(StoreError) -> String? {
        try await Self.unlessLost { () async throws(StoreError) in try await store.userId(of: user) }
    }

    /// Returns the login with the last audit row that it includes.
    private func readWithHead(_ login: LoginHandle) async throws(StoreError) -> (stored: StoredLogin, asOf: Int64)? {
        try await Self.unlessLost { () async throws(StoreError) in
            try await store.read { reader throws(StoreError) in
                try reader.withSnapshot { () throws(StoreError) in (try reader.login(login), try reader.auditHead()) }
            }
        }
    }

    /// Nil if the vault does not have it, or cannot open it. A server that does not answer proves nothing about a
    /// login: it is asked again, and no subscriber hears that the login is gone.
    private static func unlessLost<R>(_ body: () async throws(StoreError) -> R) async throws(StoreError) -> R? {
        do throws(StoreError) {
            return try await body()
        } catch {
            guard error.isDamage || error.isNotFound else { throw error }
            return nil
        }
    }
}

extension StoreError {
    fileprivate var isNotFound: Bool {
        if case .notFound = code { true } else { false }
    }
}
