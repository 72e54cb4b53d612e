import VaultStorage

extension Vault {
    /// The logins that fit, in the order of their ids, page by page: memory does not grow with the vault. Each page is one
    /// consistent snapshot. A row that cannot be opened is listed whatever the filter says, because its content is unknown;
    /// except among a tenant's, because its tenant is unknown, too. A tenant's logins have the names within the tenant.
    ///
    /// ```swift
    /// for try await case .login(let login) in vault.logins(where: LoginFilter(provider: "acme", standings: [.dead])) {
    ///     await mail.askToLogInAgain(login.userId)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - filter: Which are wanted.
    ///   - id: The listing begins behind this login; nil: with the first.
    ///   - pageSize: How many rows are read at a time: 1 to 10 000.
    public func logins(
        where filter: LoginFilter, after id: LoginID? = nil, pageSize: Int = 500
    ) -> some AsyncSequence<LoginEntry, any Error> & Sendable {
        var logins = filtered(filter, after: id, pageSize: pageSize)
        logins.scope = TenantScope(tenant: filter.tenant)
        return logins
    }

    package func filtered(_ filter: LoginFilter, after id: LoginID? = nil, pageSize: Int) -> FilteredLogins {
        FilteredLogins(vault: self, filter: filter, first: id, pageSize: min(max(1, pageSize), 10_000))
    }

    /// Some of the logins among which those are that fit: of the filter's user, or of all.
    package func page(of filter: LoginFilter, after id: LoginID?, limit: Int) async throws -> [LoginEntry] {
        try await logins(ofQualified: qualifiedUser(of: filter), after: id, limit: limit)
    }

    /// Refuses a filter that names a user or a provider that there is not.
    package func requireNames(of filter: LoginFilter) async throws {
        if let userId = try qualifiedUser(of: filter) {
            _ = try await VaultError.translating { try await store.user(userId) }
        }
        if let name = filter.qualified(filter.provider) { _ = try await provider(named: name) }
    }

    private func qualifiedUser(of filter: LoginFilter) throws -> String? {
        guard filter.tenant != nil else { return try filter.userId.map { try ArgumentCheck.userId($0) } }
        return filter.qualified(filter.userId)
    }

    /// How many logins fit, by standing and by provider. Looks at each of them, in bounded memory.
    ///
    /// - Parameters:
    ///   - filter: Which are counted.
    ///   - progress: Called after each page with how many rows have been looked at.
    package func loginCounts(
        where filter: LoginFilter, progress: @escaping @Sendable (_ seen: Int) -> Void = { _ in }
    ) async throws -> LoginCounts {
        var counts = LoginCounts()
        var pages = filtered(filter, pageSize: 1_000).makePages()
        while let page = try await pages.next() {
            for entry in page.entries { counts.count(entry) }
            progress(page.seen)
        }
        return counts
    }
}

/// How many logins fit a filter.
package struct LoginCounts: Sendable, Equatable {
    package internal(set) var logins = 0
    package internal(set) var byStanding: [LoginStanding: Int] = [:]
    /// By the provider's name; under the empty name those that have none.
    package internal(set) var byProvider: [String: Int] = [:]
    /// Rows that cannot be opened; not among ``logins``.
    package internal(set) var damaged = 0

    mutating func count(_ entry: LoginEntry) {
        switch entry {
        case .damaged: damaged += 1
        case .login(let login):
            logins += 1
            byStanding[login.standing, default: 0] += 1
            byProvider[login.provider ?? "", default: 0] += 1
        }
    }
}

/// Logins that match a filter. Each iterator reads the vault again.
package struct FilteredLogins: AsyncSequence, Sendable {
    package typealias Element = LoginEntry
    package typealias Failure = any Error

    let vault: Vault
    let filter: LoginFilter
    let first: LoginID?
    let pageSize: Int
    /// How users and providers are called in what comes.
    var scope = TenantScope.whole

    package func makeAsyncIterator() -> Iterator { Iterator(pages: makePages()) }

    package func makePages() -> Pages { Pages(sequence: self, last: first) }

    private func named(_ entries: [LoginEntry]) -> [LoginEntry] {
        guard scope.tenant != nil else { return entries }
        return entries.compactMap { entry in
            if case .login(let login) = entry { .login(scope.plain(login)) } else { nil }
        }
    }

    /// One pass over the listing.
    package struct Iterator: AsyncIteratorProtocol {
        var pages: Pages
        var entries = [LoginEntry]()[...]

        package mutating func next() async throws -> LoginEntry? {
            while entries.isEmpty {
                guard let page = try await pages.next() else { return nil }
                entries = pages.sequence.named(page.entries)[...]
            }
            return entries.removeFirst()
        }
    }

    package struct Pages {
        let sequence: FilteredLogins
        var last: LoginID?
        var seen = 0
        var isOver = false
        var isChecked = false

        /// Returns the matching logins of the next page, perhaps none; nil after the last page.
        package mutating func next() async throws -> (entries: [LoginEntry], seen: Int)? {
            guard !isOver else { return nil }
            try Task.checkCancellation()
            let (vault, filter) = (sequence.vault, sequence.filter)
            if !isChecked, let name = filter.qualified(filter.provider) { _ = try await vault.provider(named: name) }
            isChecked = true
            let page = try await vault.page(of: filter, after: last, limit: sequence.pageSize)
            isOver = page.count < sequence.pageSize
            last = page.last?.id ?? last
            seen += page.count
            let fitting = page.filter { entry in
                if case .login(let login) = entry { filter.fits(login) } else { true }
            }
            return (fitting, seen)
        }
    }
}

extension LoginEntry {
    /// Which login it is about.
    public var id: LoginID {
        switch self {
        case .login(let login): login.id
        case .damaged(let id, _): id
        }
    }
}
