package import VaultStorage

extension Vault {
    /// All users, or those of one tenant under their names in it, in the order of their random handles, page by page: memory
    /// does not grow with the vault. Rows that cannot be opened are left out; `vaultctl damage list` lists them.
    public func users(of tenant: Tenant? = nil) -> some AsyncSequence<User, any Error> & Sendable {
        ListedUsers(vault: self, scope: TenantScope(tenant: tenant))
    }

    /// Users, in the order of their random handles. Each page begins after the last user of the one before.
    ///
    /// - Parameters:
    ///   - cursor: ``UserPage/next`` of the page before; nil for the first.
    ///   - limit: How many at most: 0 to 10 000; what is outside counts as the nearer of these.
    package func userPage(after cursor: String? = nil, limit: Int = 100) async throws -> UserPage {
        let limit = limit.asPageLimit
        let after = try cursor.map { text in
            guard let handle = UserHandle(text: text) else {
                throw VaultError(.invalidArgument, "the page cursor is invalid")
            }
            return handle
        }
        let listings = try await VaultError.translating { try await store.users(after: after, limit: limit) }
        let entries = listings.map { listing in
            listing.user.map { UserEntry.user(User($0)) }
                ?? .damaged(handle: listing.handle.text, listing.damage?.message ?? Self.unreadable)
        }
        return UserPage(entries: entries, next: listings.count < limit ? nil : listings.last?.handle.text)
    }

    /// The user of this id, as the app calls them, in a tenant or in none.
    ///
    /// - Throws: ``VaultError/Code/unknownUser`` if there is none.
    public func user(_ id: String, of tenant: Tenant? = nil) async throws -> User {
        let scope = TenantScope(tenant: tenant)
        let id = try scope.user(id).text
        return scope.plain(try await VaultError.translating { User(try await store.user(id)) })
    }

    /// Logins, in the order of their ids; of one user, or of all.
    ///
    /// - Parameters:
    ///   - userId: nil for all users.
    ///   - id: The last login of the page before; nil for the first page.
    ///   - limit: How many at most: 0 to 10 000; what is outside counts as the nearer of these.
    package func logins(ofUser userId: String? = nil, after id: LoginID? = nil, limit: Int = 100) async throws
        -> [LoginEntry]
    {
        try await logins(ofQualified: userId.map { try ArgumentCheck.userId($0) }, after: id, limit: limit)
    }

    /// - Parameter userId: As it is in the vault.
    func logins(ofQualified userId: String?, after id: LoginID?, limit: Int) async throws -> [LoginEntry] {
        try await VaultError.translating {
            let now = now
            let listings = try await store.logins(ofUser: userId, after: id?.handle, limit: limit)
            let providers = Set(listings.compactMap { $0.login?.provider })
            let names = await providerNames(of: providers)
            let limits =
                if let userId { try await tokenLimits(ofUser: userId, at: providers) } else {
                    [:] as [ProviderHandle: Login.TokenLimit]
                }
            return listings.map { listing in
                guard let stored = listing.login else {
                    return .damaged(LoginID(listing.handle), listing.damage?.message ?? Self.unreadable)
                }
                let name = stored.provider.map { names[$0] ?? $0.damagedName }
                var login = Login(stored, provider: name, now: now)
                login.tokenLimit = stored.provider.flatMap { limits[$0] }
                return .login(login)
            }
        }
    }

    /// The login of this id. With a tenant, only if it is one of that tenant's, and with the names within it.
    ///
    /// - Throws: ``VaultError/Code/unknownLogin`` if there is none.
    public func login(_ id: LoginID, of tenant: Tenant? = nil) async throws -> Login {
        let scope = TenantScope(tenant: tenant)
        return try await VaultError.translating {
            let stored = try await store.login(id.handle)
            guard scope.has(stored.userId) else { throw StoreError.notFound(.login) }
            return scope.plain(await describe(stored))
        }
    }

    /// Returns the public view of a stored login.
    ///
    /// - Parameter isNew: Whether the login was made just now.
    package func describe(_ stored: StoredLogin, isNew: Bool = false) async -> Login {
        await limited(
            Login(stored, provider: name(of: stored.provider), now: now), at: stored.provider, isNew: isNew)
    }

    /// The same of a login as a transaction left it, which saves reading what was just written. Without its limit.
    package func describe(_ state: LoginState) async -> Login {
        await Login(state, provider: name(of: state.provider), now: now)
    }

    /// The name of a login's provider. Nil is the app alone: a provider that cannot be opened has ``ProviderHandle/damagedName``.
    package func name(of provider: ProviderHandle?) async -> String? {
        guard let provider else { return nil }
        return await nameIfThere(provider) ?? provider.damagedName
    }

    /// Opens each of these providers once, and no other. Those that are no longer in the vault are left out.
    package func providerNames(of providers: some Sequence<ProviderHandle>) async -> [ProviderHandle: String] {
        var names: [ProviderHandle: String] = [:]
        for provider in Set(providers) { names[provider] = await nameIfThere(provider) }
        return names
    }

    private func nameIfThere(_ provider: ProviderHandle) async -> String? {
        let tag = store.context.tag(of: provider)
        if let name = tag.flatMap({ knownNames[provider, $0] }) { return name }
        do throws(StoreError) {
            let name = try await store.provider(provider).record.name
            if let tag { knownNames.keep(name, provider, tag) }
            return name
        } catch {
            if error.code == .notFound(.provider) { return nil }
            return error.isDamage ? provider.damagedName : provider.text
        }
    }

    private static let unreadable = "the row cannot be opened"
}

/// A part of the list of users.
package struct UserPage: Sendable, Equatable {
    package let entries: [UserEntry]
    /// Where the next page begins; nil after the last.
    package let next: String?
}

/// Users of a vault, or of one of its tenants.
struct ListedUsers: AsyncSequence, Sendable {
    typealias Element = User
    typealias Failure = any Error

    let vault: Vault
    let scope: TenantScope

    func makeAsyncIterator() -> Iterator { Iterator(sequence: self) }

    /// One pass over the listing.
    struct Iterator: AsyncIteratorProtocol {
        let sequence: ListedUsers
        var users = [User]()[...]
        var cursor: String?
        var isOver = false

        mutating func next() async throws -> User? {
            while users.isEmpty, !isOver {
                try Task.checkCancellation()
                let page = try await sequence.vault.userPage(after: cursor, limit: 500)
                let scope = sequence.scope
                users =
                    page.entries.compactMap { entry in
                        if case .user(let user) = entry, scope.has(user.id) { scope.plain(user) } else { nil }
                    }[...]
                cursor = page.next
                isOver = cursor == nil
            }
            return users.popFirst()
        }
    }
}

extension User {
    init(_ stored: StoredUser) {
        self.init(
            id: stored.id, handle: stored.handle.text, isEnabled: stored.status == .active,
            logins: stored.logins.map { LoginID($0) },
            createdAt: stored.createdAt.date)
    }
}
