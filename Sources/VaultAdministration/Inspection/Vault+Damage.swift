package import TokenVault
import VaultStorage

extension Vault {
    /// Returns the rows that cannot be opened. Reads every row there is, about a minute for millions of rows. Changes
    /// nothing.
    ///
    /// - Parameter limit: How many at most.
    package func damage(limit: Int = 1_000) async throws -> [DamagedRow] {
        let rows = try await VaultError.translating { try await store.damagedRows(limit: limit.asPageLimit) }
        let names = await providerNames(of: rows.compactMap(\.provider))
        return rows.map { DamagedRow($0, names) }
    }

    /// The damaged rows among those in plain text: rows outside the chain of the audit trail, and the counter of
    /// renewals. Few rows are read for that.
    package func damageOfCounters(limit: Int) async throws -> [DamagedRow] {
        let rows = try await VaultError.translating { try await store.damageOfCounters(limit: limit) }
        return rows.map { DamagedRow($0, [:]) }
    }

    /// A damaged row with its stored columns and dependent rows. Nothing in it is opened: cells stay sealed.
    ///
    /// - Throws: ``VaultError``: ``VaultError/Code/unknownRow`` if there is no such row, ``VaultError/Code/conflict``
    ///   if it opens.
    package func damagedRow(_ id: DamagedRow.ID) async throws -> DamagedRow.Content {
        let content = try await VaultError.translating { try await store.damagedRow(id.name) }
        return await DamagedRow.Content(
            row: describe(content.row), rows: content.rows.map { DamagedRow.StoredRow($0) },
            hash: Hexadecimal.text(content.hash))
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
    package func discardDamagedRow(_ id: DamagedRow.ID) async throws -> DamagedRow.Discarded {
        let discarded = try await VaultError.translating { try await store.discardDamagedRow(id.name) }
        supersedeHandlers(of: discarded.logins)
        return await DamagedRow.Discarded(
            row: describe(discarded.row), rowCount: discarded.rowCount, hash: Hexadecimal.text(discarded.hash),
            logins: discarded.logins.map { LoginID($0) })
    }

    /// The same for the row of a login. For each discarded login, the report says that its grant could not be revoked.
    @discardableResult
    package func discardDamagedLogin(_ login: LoginID) async throws -> RevocationReport {
        let discarded = try await discardDamagedRow(DamagedRow.ID(.handle(login.handle.bytes)))
        return RevocationReport(results: discarded.logins.map { .init(login: $0, outcome: .unreadable) })
    }

    private func describe(_ row: VaultStorage.DamagedRow) async -> DamagedRow {
        await DamagedRow(row, providerNames(of: [row.provider].compactMap(\.self)))
    }
}

extension DamagedRow {
    fileprivate init(_ row: VaultStorage.DamagedRow, _ names: [ProviderHandle: String]) {
        self.init(
            id: ID(row.name), table: Table(row.table), problem: row.damage.message, userHandle: row.user?.text,
            userId: row.userId, login: row.login.map { LoginID($0) },
            provider: row.provider.map { names[$0] ?? $0.text })
    }
}

extension DamagedRow.Table {
    fileprivate init(_ table: VaultStorage.DamagedRow.Table) {
        self =
            switch table {
            case .provider: .provider
            case .user: .user
            case .login: .login
            case .loginSecret: .loginSecret
            case .refreshIntent: .refreshIntent
            case .outbox: .outbox
            case .authorizationRequest: .authorizationRequest
            case .unusableReply: .unusableReply
            case .manifestPart: .manifestPart
            case .audit: .audit
            case .fenceCounter: .fenceCounter
            }
    }
}
