package import TokenVault
package import VaultStorage

extension Vault {
    /// Returns the rows that cannot be opened. Reads every row there is, about a minute for millions of rows. Changes
    /// nothing.
    ///
    /// - Parameter limit: How many at most.
    package func damage(limit: Int = 1_000) async throws -> [DamagedRow] {
        let rows = try await VaultError.translating { try await store.damagedRows(limit: limit.asPageLimit) }
        let names = await providerNames(of: rows.compactMap(\.provider))
        return named(rows, names)
    }

    /// The damaged rows among those in plain text: rows outside the chain of the audit trail, and the counter of
    /// renewals. Few rows are read for that.
    package func damageOfCounters(limit: Int) async throws -> [DamagedRow] {
        try await VaultError.translating { try await store.damageOfCounters(limit: limit) }
    }

    /// A damaged row with its stored columns and dependent rows. Nothing in it is opened: cells stay sealed.
    ///
    /// - Throws: ``VaultError``: ``VaultError/Code/unknownRow`` if there is no such row, ``VaultError/Code/conflict``
    ///   if it opens.
    package func damagedRow(_ name: DamagedRowName) async throws -> DamagedRowContent {
        var content = try await VaultError.translating { try await store.damagedRow(name) }
        content.row = await named(content.row)
        return content
    }

    /// Deletes a row that cannot be opened, with its dependent rows: a login's secrets, intent and kept replies; all
    /// logins of a user. The sealed data is lost, and grants that it could have revoked live on at the provider. The
    /// audit trail keeps the row's name, its damage and its hash.
    ///
    /// A user can log in again afterwards. A provider is discarded only if no login belongs to it:
    /// ``addProvider(_:replacingDamaged:)`` keeps its logins.
    ///
    /// - Throws: ``VaultError``: ``VaultError/Code/unknownRow`` if there is no such row, ``VaultError/Code/conflict``
    ///   if it opens, ``VaultError/Code/inUse`` for a provider with logins.
    @discardableResult
    package func discardDamagedRow(_ name: DamagedRowName) async throws -> DiscardedRow {
        var discarded = try await VaultError.translating { try await store.discardDamagedRow(name) }
        supersedeHandlers(of: discarded.logins)
        discarded.row = await named(discarded.row)
        return discarded
    }

    /// The same for the row of a login. For each discarded login, the report says that its grant could not be revoked.
    @discardableResult
    package func discardDamagedLogin(_ login: LoginID) async throws -> RevocationReport {
        let discarded = try await discardDamagedRow(.handle(login.handle.bytes))
        return RevocationReport(results: discarded.logins.map { .init(login: LoginID($0), outcome: .unreadable) })
    }

    private func named(_ row: DamagedRow) async -> DamagedRow {
        await named([row], providerNames(of: [row.provider].compactMap(\.self)))[0]
    }

    private func named(_ rows: [DamagedRow], _ names: [ProviderHandle: String]) -> [DamagedRow] {
        rows.map { row in
            var row = row
            // Here the handle alone is as good: every row is damaged.
            row.providerName = row.provider.flatMap { names[$0] == $0.damagedName ? nil : names[$0] }
            return row
        }
    }
}
