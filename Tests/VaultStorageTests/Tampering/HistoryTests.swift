import TestSupport
import Testing
import VaultCrypto
import VaultSQLite
import VaultStorage

/// Fifty changes of a vault, and each earlier moment of them put back: rows, a user, the whole content.
@Suite struct HistoryTests {
    private static let changes = 50
    private static let victim = "alice"
    private static let tables = [
        "user", "login", "loginSecret", "refreshIntent", "audit", "provider", "outbox", "authorizationRequest",
        "keySlot", "vault", "migration",
    ]
    private static let ofVictim = "(SELECT id FROM now.user ORDER BY id LIMIT 1)"
    private static let loginOfVictim = "(SELECT id FROM now.login WHERE user = \(ofVictim))"
    private static let rows = [
        "login": "REPLACE INTO main.login SELECT * FROM old.login WHERE id = \(loginOfVictim);",
        "loginSecret": "REPLACE INTO main.loginSecret SELECT * FROM old.loginSecret WHERE login = \(loginOfVictim);",
        "user": "REPLACE INTO main.user SELECT * FROM old.user WHERE id = \(ofVictim);",
    ]
    private static let wholeUser = rows.values.joined()

    @Test func everyEarlierMomentIsNoticed() async throws {
        let vault = try VaultFixture()
        try vault.create().close()
        let store = try vault.open()
        defer { store.close() }
        let database = try RawDatabase(vault.path)
        let login = try await store.insertLogin(SampleVault.draft(user: Self.victim, number: 0, provider: nil)).handle
        let other = try await store.insertLogin(SampleVault.draft(user: "bob", number: 0, provider: nil)).handle
        for change in 0..<Self.changes {
            try database.execute("VACUUM INTO '\(vault.directory.file("old-\(change)"))'")
            let now = vault.now
            try await store.updateLogin(login) { $0.renew(marker: "alice-\(change)", at: now) }
            if change % 3 == 0 { try await store.updateLogin(other) { $0.renew(marker: "bob-\(change)", at: now) } }
        }
        try database.execute(
            "VACUUM INTO '\(vault.directory.file("now"))'; ATTACH '\(vault.directory.file("now"))' AS now")

        var tally: [String: Int] = [:]
        for age in 0..<Self.changes {
            try database.execute("ATTACH '\(vault.directory.file("old-\(age)"))' AS old")
            for (table, sql) in Self.rows.sorted(by: { $0.key < $1.key }) {
                try database.execute(sql)
                await #expect(throws: StoreError.self, "\(table) of change \(age)") { try await store.login(login) }
                #expect(try await store.session(.login(other)).login == other)
                try putBack(database)
                tally["rows seen at the touch", default: 0] += 1
            }
            try database.execute(Self.wholeUser)
            let findings = try await store.verify().findings
            #expect(findings.contains { $0.place == "user" }, "the user as of change \(age)")
            tally["users seen by verify", default: 0] += 1

            try replace(with: "old", in: database)
            let error = await #expect(throws: StoreError.self, "the vault as of change \(age)") {
                try await store.updateLogin(other) { $0.session.label = "CANARY-late" }
            }
            #expect(error?.code == .rollbackSuspected, "the vault as of change \(age)")
            tally["vaults not written by who knows better", default: 0] += 1
            try replace(with: "now", in: database)
            try database.execute("DETACH old")
        }
        #expect(try await store.verify().isClean)
        #expect(try await store.login(login).position.generation == Int64(Self.changes) + 1)
        print("rollback: each of \(Self.changes) earlier moments: \(tally.sorted { $0.key < $1.key })")
        #expect(tally.values.reduce(0, +) == 5 * Self.changes)
    }

    private func putBack(_ database: RawDatabase) throws {
        for table in ["login", "loginSecret", "user"] {
            try database.execute("REPLACE INTO main.\(table) SELECT * FROM now.\(table)")
        }
    }

    private func replace(with moment: String, in database: RawDatabase) throws {
        var sql = "BEGIN IMMEDIATE;"
        for table in Self.tables {
            sql += "DELETE FROM main.\(table); INSERT INTO main.\(table) SELECT * FROM \(moment).\(table);"
        }
        try database.execute(sql + "COMMIT")
    }
}
