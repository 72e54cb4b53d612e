import Synchronization
import TestSupport
import Testing
import VaultCrypto
import VaultSQLite
import VaultStorage

/// The full check: what it counts, what it tells, and what it lets go on meanwhile.
@Suite struct VerificationTests {
    @Test func aHealthyVaultIsClean() async throws {
        let history = try await VaultImage.history()
        let vault = try history.current.layOut()
        let store = try vault.open()
        defer { store.close() }
        let told = Mutex<[VerificationProgress]>([])
        let report = try await store.verify { step in told.withLock { $0.append(step) } }
        let steps = told.withLock { $0 }
        #expect(report.isClean, "\(report.findings)")
        #expect(report.users == 4 && report.logins == 10 && report.providers == 2)
        // Users, three cells for each login, providers, pending log-ins and revocations, the keyring, and some details.
        #expect(report.cells >= 4 + 30 + 2 + 2 + 2 + 1)
        #expect(report.auditRows == Int(try RawDatabase(vault.path).integer("SELECT count(*) FROM audit")))
        #expect(steps.first?.total == 0, "something is told before the file itself has been looked at")
        let last = try #require(steps.last)
        #expect(last.checked == last.total)
        #expect(steps.map(\.checked) == steps.map(\.checked).sorted())
    }

    @Test func anEmptyVaultIsClean() async throws {
        let vault = try VaultFixture()
        try vault.create().close()
        let store = try vault.open()
        defer { store.close() }
        let report = try await store.verify()
        #expect(report.isClean && report.users == 0 && report.auditRows == 1)
    }

    /// Damage in every table at once: each is told with its handle, and none hides another.
    @Test func allDamageIsToldAtOnceAndNothingIsChanged() async throws {
        let history = try await VaultImage.history()
        let vault = try history.current.layOut()
        let database = try RawDatabase(vault.path)
        try database.execute(
            """
            UPDATE user SET revision = revision + 1 WHERE id = 1;
            UPDATE login SET generation = generation + 1 WHERE id = (SELECT min(id) FROM login WHERE user = 2);
            UPDATE loginSecret SET keyCell = NULL WHERE login = (SELECT max(id) FROM login WHERE user = 2);
            UPDATE refreshIntent SET tries = tries + 1 WHERE login IN (SELECT id FROM login WHERE user = 3);
            UPDATE provider SET revision = 77 WHERE id = 1;
            UPDATE outbox SET attempts = 0;
            UPDATE authorizationRequest SET expiresAt = expiresAt + 1 WHERE id = 1;
            UPDATE audit SET time = 1 WHERE sequence = 5;
            INSERT INTO loginSecret (login) VALUES (4711);
            INSERT INTO refreshIntent (login, generation, owner, startedAt, tries, mac)
                VALUES (4712, 1, 1, 1, 1, zeroblob(16));
            UPDATE migration SET checksum = 1 WHERE version = 2;
            """)
        let before = try dump(database)
        let store = try vault.open()
        defer { store.close() }
        let report = try await store.verify()
        let places = Set(report.findings.map(\.place))
        for place in [
            "user", "login", "loginSecret", "refreshIntent", "provider", "outbox", "authorizationRequest", "audit",
            "migration",
        ] { #expect(places.contains(place), "\(place)") }
        for finding in report.findings {
            #expect(finding.subject != nil)
            #expect(finding.problem.first?.isUppercase == false && !finding.problem.hasSuffix("."), "\(finding)")
        }
        let victim = try #require(report.findings.first { $0.place == "login" }?.subject)
        #expect(LoginHandle(text: victim) != nil)
        #expect(report.users == 4, "a damaged user does not end the check")
        #expect(try dump(database) == before, "nothing is repaired, removed or stamped anew")
        // Those who are not touched are served.
        _ = try await store.session(.user(SampleVault.oneLogin))
    }

    /// Each table of the schema, whatever it may be called in a version to come: something in each of its blobs, or
    /// numbers, is changed, and what its rows refer to is taken away.
    @Test func noTableIsForgotten() async throws {
        let history = try await VaultImage.history()
        let schema = try RawDatabase(of: history.current.layOut())
        let names = try schema.run(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name")
        var tables = 0
        for case .text(let bytes)? in names.map(\.first) {
            let table = String(decoding: bytes, as: UTF8.self)
            tables += 1
            // Only a user with many logins has a row there: see ManifestPartTests.
            if table == "manifestPart" { continue }
            #expect(ColumnTamperingTests.tables.contains(table), "\(table) is not tampered with, column by column")
            try #require(
                try schema.integer("SELECT count(*) FROM \(table)") > 0, "no sample vault has a row in \(table)")
            var found = 0
            for case .text(let column)? in try schema.run("SELECT name FROM pragma_table_info('\(table)')").map(\.first)
            {
                let column = String(decoding: column, as: UTF8.self)
                let change = """
                    UPDATE \(table) SET \(column) = CASE typeof(\(column)) WHEN 'blob'
                        THEN CAST(substr(\(column), 1, length(\(column)) - 1) || x'7f' AS BLOB)
                        ELSE \(column) + 1 END
                    WHERE rowid = (SELECT max(rowid) FROM \(table) WHERE \(column) IS NOT NULL)
                    """
                await found += try findings(after: change, in: history, place: table).count
            }
            #expect(found > 0, "no change in \(table) is told")
            for case .text(let column)? in try schema.run("SELECT \"from\" FROM pragma_foreign_key_list('\(table)')")
                .map(\.first)
            {
                let column = String(decoding: column, as: UTF8.self)
                let orphan = """
                    UPDATE \(table) SET \(column) = CASE typeof(\(column)) WHEN 'blob' THEN randomblob(16) ELSE 4711 END
                    WHERE rowid = (SELECT max(rowid) FROM \(table) WHERE \(column) IS NOT NULL)
                    """
                let reasons = try await findings(after: orphan, in: history, place: table)
                #expect(reasons.contains { $0.contains("does not exist") }, "\(table).\(column): \(reasons)")
            }
        }
        print("verify: \(tables) tables")
        #expect(tables >= 12)
    }

    private func findings(after sql: String, in history: VaultImage.History, place: String) async throws -> [String] {
        let vault = try history.current.layOut()
        // What the schema forbids is not to be found.
        do { try RawDatabase(of: vault).execute(sql) } catch { return [] }
        guard let store = try? vault.open() else { return ["refused"] }
        defer { store.close() }
        return try await store.verify().findings.filter { $0.place == place }.map(\.problem)
    }

    private func dump(_ database: RawDatabase) throws -> [String: [[RawDatabase.Value]]] {
        var tables: [String: [[RawDatabase.Value]]] = [:]
        for table in ColumnTamperingTests.tables { tables[table] = try database.run("SELECT * FROM \(table)") }
        return tables
    }

    /// A value that is longer than SQLite may give us makes one row unreadable, and no other.
    @Test func anUnreadableRowHidesNoOther() async throws {
        let history = try await VaultImage.history()
        let vault = try history.current.layOut()
        try RawDatabase(vault.path).execute(
            """
            UPDATE user SET cell = zeroblob(2000000) WHERE id = 2;
            UPDATE user SET revision = revision + 1 WHERE id = 3;
            UPDATE outbox SET cell = zeroblob(2000000) WHERE id = 1;
            UPDATE outbox SET attempts = 9 WHERE id = 2;
            UPDATE audit SET detailCell = zeroblob(2000000) WHERE sequence = 4;
            UPDATE audit SET kind = 99 WHERE sequence = 9;
            """)
        let store = try vault.open()
        defer { store.close() }
        let report = try await store.verify()
        #expect(report.findings.filter { $0.place == "user" }.count >= 2)
        #expect(report.findings.filter { $0.place == "outbox" }.count >= 2)
        #expect(report.findings.contains { $0.place == "audit" && $0.subject == "9" })
        #expect(report.users >= 3)
    }

    @Test func onlyTheFirstFindingsAreKeptAndAllAreCounted() async throws {
        let history = try await VaultImage.history()
        let vault = try history.current.layOut()
        try RawDatabase(vault.path).execute(
            """
            WITH RECURSIVE number (n) AS (SELECT 5000 UNION ALL SELECT n + 1 FROM number WHERE n < 6999)
            INSERT INTO loginSecret (login) SELECT n FROM number
            """)
        let store = try vault.open()
        defer { store.close() }
        let report = try await store.verify()
        #expect(report.findingCount == 2000)
        #expect(report.findings.count == VerificationReport.findingLimit)
    }

    /// Rows that change, come and go while the check runs are not damage, and writers do not wait for it.
    @Test func writersGoOnAndAreNotTakenForDamage() async throws {
        let vault = try VaultFixture()
        try vault.create().close()
        let store = try vault.open()
        defer { store.close() }
        for number in 0..<60 {
            for login in 0..<2 {
                _ = try await store.insertLogin(SampleVault.draft(user: "user-\(number)", number: login, provider: nil))
            }
        }
        let isDone = Flag()
        let writes = try await withThrowingTaskGroup(of: Int.self) { group in
            for task in 0..<3 {
                group.addTask {
                    var count = 0
                    while !isDone.isSet {
                        try await Self.churn(store, task, count)
                        count += 1
                    }
                    return count
                }
            }
            for _ in 0..<8 {
                let report = try await store.verify()
                #expect(report.isClean, "\(report.findings.prefix(3))")
                await Task.yield()
            }
            isDone.set()
            return try await group.reduce(0, +)
        }
        #expect(writes > 0)
        print("verify: 8 clean checks beside \(writes) rounds of writes")
    }

    /// Renews, adds, removes and erases.
    private static func churn(_ store: SQLiteVaultStore, _ task: Int, _ round: Int) async throws {
        let user = "user-\((round * 7 + task * 20) % 60)"
        if let login = try? await store.user(user).logins.first {
            let now = SteppingClock.start
            _ = try? await store.updateLogin(login) { $0.renew(marker: "\(task)-\(round)", at: now) }
        }
        let guest = "guest-\(task)-\(round)"
        let added = try await store.insertLogin(SampleVault.draft(user: guest, number: 0, provider: nil))
        if round.isMultiple(of: 2) {
            try await store.updateLogin(added.handle) { $0.isRemoved = true }
        } else {
            try await store.updateUser(guest) { $0.isErased = true }
        }
    }
}
