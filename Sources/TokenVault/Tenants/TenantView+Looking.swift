import VaultStorage

extension TenantView {
    // MARK: Providers

    /// Adds a provider for this tenant's users alone. Its name must be free within the tenant.
    @discardableResult
    public func addProvider(_ registration: ProviderRegistration) async throws -> Provider {
        plain(try await vault.addProvider(registration, of: tenant))
    }

    /// In the order in which they were added. One that cannot be opened is left out: whose it is is sealed in it.
    public func providers() async throws -> [Provider] {
        try await vault.providers().compactMap(\.provider).filter { tenant.plain($0.name) != nil }.map { plain($0) }
    }

    public func provider(named name: String) async throws -> Provider {
        plain(try await vault.provider(named: tenant.qualify(name)))
    }

    /// See ``Vault/updateProvider(named:_:force:expecting:)``.
    @discardableResult
    public func updateProvider(
        named name: String, _ change: ProviderChange, force: Bool = false
    ) async throws -> Provider {
        plain(try await vault.updateProvider(named: tenant.qualify(name), change, force: force).current)
    }

    /// See ``Vault/removeProvider(named:)``.
    public func removeProvider(named name: String) async throws {
        try await vault.removeProvider(named: tenant.qualify(name))
    }

    /// The name of a provider of this tenant, or of all of them; nil for one of another tenant.
    private func shown(_ name: String) -> String? {
        tenant.plain(name) ?? (Tenant.isQualified(name) ? nil : name)
    }

    private func plain(_ provider: Provider) -> Provider {
        var provider = provider
        provider.name = tenant.plain(provider.name) ?? provider.name
        return provider
    }

    // MARK: Users and logins

    public func user(_ id: String) async throws -> User {
        let id = try qualified(id)
        return plain(try await VaultError.translating { User(try await vault.store.user(id)) })
    }

    /// Users, in the order of their random handles. A page has those of this tenant among `limit` users of the vault: perhaps
    /// none, although there are further pages.
    public func users(after cursor: String? = nil, limit: Int = 100) async throws -> UserPage {
        let page = try await vault.users(after: cursor, limit: limit)
        let entries = page.entries.compactMap { entry -> UserEntry? in
            guard case .user(let user) = entry, tenant.plain(user.id) != nil else { return nil }
            return .user(plain(user))
        }
        return UserPage(entries: entries, next: page.next)
    }

    private func plain(_ user: User) -> User {
        var user = user
        user.id = tenant.plain(user.id) ?? user.id
        return user
    }

    public func login(_ id: LoginID) async throws -> Login {
        try await vault.require(id, of: tenant)
        return plain(try await vault.login(id))
    }

    /// The logins that fit, in the order of their ids, page by page. One that cannot be opened is left out: whose it is is
    /// sealed in it. See ``Vault/logins(where:after:pageSize:)``.
    public func logins(
        where filter: LoginFilter = LoginFilter(), after id: LoginID? = nil, pageSize: Int = 500
    ) -> some AsyncSequence<Login, any Error> & Sendable {
        var filter = filter
        filter.tenant = tenant
        return TenantLogins(view: self, logins: vault.filtered(filter, after: id, pageSize: pageSize))
    }

    // MARK: Watching

    /// See ``UserManager/sessionState(of:)``.
    public func sessionState(userId: String) async throws -> SessionState {
        try await vault.sessionState(userId: qualified(userId))
    }

    /// What has happened to this tenant's logins since a place that you have kept. See ``Vault/storedEvents(after:of:limit:)``;
    /// a page has those of this tenant among `limit` rows of the trail. ``SessionEvent/Kind/missed(count:)`` concerns all,
    /// and so do providers that belong to no tenant.
    package func storedEvents(after cursor: EventCursor, limit: Int = 256) async throws -> StoredEventPage {
        let page = try await vault.storedEvents(after: cursor, limit: limit)
        let events = page.events.compactMap { event -> SessionEvent? in
            var event = event
            switch event.kind {
            case .providerStopped(let name, let ended):
                guard let name = shown(name) else { return nil }
                event.kind = .providerStopped(name: name, ended: ended)
            case .providerResumed(let name):
                guard let name = shown(name) else { return nil }
                event.kind = .providerResumed(name: name)
            case .missed: break
            default:
                guard let userId = event.userId.flatMap({ tenant.plain($0) }) else { return nil }
                event.userId = userId
            }
            return event
        }
        return StoredEventPage(events: events, cursor: page.cursor, isLast: page.isLast)
    }
}

/// Logins of one tenant that fit a filter. Each iterator reads the vault anew.
struct TenantLogins: AsyncSequence, Sendable {
    typealias Element = Login
    typealias Failure = any Error

    let view: TenantView
    let logins: FilteredLogins

    func makeAsyncIterator() -> Iterator { Iterator(view: view, logins: logins.makeAsyncIterator()) }

    /// One pass over the listing.
    struct Iterator: AsyncIteratorProtocol {
        let view: TenantView
        var logins: FilteredLogins.Iterator

        mutating func next() async throws -> Login? {
            while let entry = try await logins.next() {
                if case .login(let login) = entry { return view.plain(login) }
            }
            return nil
        }
    }
}
