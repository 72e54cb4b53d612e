import TestSupport
import Testing
import VaultSQLite
import VaultStorage

/// Every row taken away, and every two.
@Suite struct DeletionTests {
    /// `docs/vault-format.md` says why rows of these may be taken away unnoticed: `authorizationRequest`,
    /// `refreshIntent`.
    private static let tables = [
        "vault", "keySlot", "provider", "user", "migration", "login", "loginSecret", "outbox", "audit",
    ]

    private struct Row: CustomStringConvertible {
        let table: String
        let id: Int64
        var description: String { "\(table) \(id)" }
    }

    @Test func whatIsTakenAwayIsMissed() async throws {
        let vault = try VaultFixture()
        try vault.create().close()
        let store = try vault.open()
        defer { store.close() }
        let provider = try await store.putProvider(SampleVault.provider("acme"), replacing: nil)
        try await store.addOutbox((0..<2).map { SampleVault.revocation($0, provider.handle) })
        // A user's change comes last: what is told after it can be cut off unseen, see `RowRollbackTests`.
        for user in ["alice", "bob", "carol"] {
            for number in 0..<2 {
                _ = try await store.insertLogin(
                    SampleVault.draft(user: user, number: number, provider: provider.handle))
            }
        }
        let database = try RawDatabase(vault.path)
        let copy = vault.directory.file("copy")
        try database.execute("VACUUM INTO '\(copy)'; ATTACH '\(copy)' AS copy")
        let rows = try Self.tables.flatMap { table in
            try database.run("SELECT rowid FROM main.\(table)").compactMap { row -> Row? in
                guard case .integer(let id) = row[0] else { return nil }
                return Row(table: table, id: id)
            }
        }
        #expect(try await store.verify().isClean)
        var single = 0
        var pairs = 0
        for (index, first) in rows.enumerated() {
            try delete(first, database)
            #expect(await isMissed(store), "\(first)")
            single += 1
            for second in rows[(index + 1)...] {
                try delete(second, database)
                if await !isMissed(store) { Issue.record("\(first) and \(second) are not missed") }
                try putBack(second, database)
                pairs += 1
            }
            try putBack(first, database)
        }
        #expect(try await store.verify().isClean)
        print("deletion: \(single) rows and \(pairs) pairs of rows, all missed")
        #expect(single > 30)
    }

    private func isMissed(_ store: SQLiteVaultStore) async -> Bool {
        await !((try? store.verify { _ in }.isClean) ?? false)
    }

    private func delete(_ row: Row, _ database: RawDatabase) throws {
        try database.execute("DELETE FROM main.\(row.table) WHERE rowid = \(row.id)")
    }

    private func putBack(_ row: Row, _ database: RawDatabase) throws {
        try database.execute(
            "INSERT INTO main.\(row.table) SELECT * FROM copy.\(row.table) WHERE rowid = \(row.id)")
    }
}
