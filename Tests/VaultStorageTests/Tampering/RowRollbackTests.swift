import Testing
import VaultSQLite
import VaultStorage

/// Rows of the same vault, but of another time: rolled back, taken away, put back.
@Suite struct RowRollbackTests {
    private static let victim = SampleVault.oneLogin
    private static let ofVictim = "(SELECT id FROM user ORDER BY id DESC LIMIT 1)"
    private static let loginOfVictim = "(SELECT id FROM login WHERE user = \(ofVictim))"

    /// The verdict on a vault after SQL that can see its own past as `older`.
    private func verdict(_ sql: String, affected: Set<String>? = [victim]) async throws -> TamperingVerdict {
        let history = try await VaultImage.history()
        let vault = try history.current.layOut()
        let older = try history.older.layOut()
        let database = try RawDatabase(vault.path)
        try database.execute("ATTACH '\(older.path)' AS older; \(sql)")
        return await TamperingJudge(history: history).judge(vault, affected: affected)
    }

    private static let rollBackLogin = """
        DELETE FROM refreshIntent WHERE login = \(loginOfVictim);
        REPLACE INTO login SELECT * FROM older.login WHERE id = \(loginOfVictim);
        """
    private static let rollBackSecret = """
        REPLACE INTO loginSecret SELECT * FROM older.loginSecret WHERE login = \(loginOfVictim);
        """
    private static let rollBackUser = "REPLACE INTO user SELECT * FROM older.user WHERE id = \(ofVictim);"

    @Test func aLoginThatIsRolledBackIsRefused() async throws {
        #expect(try await verdict(Self.rollBackLogin) == .seenAtTouch)
        #expect(try await verdict(Self.rollBackSecret) == .seenAtTouch)
        #expect(try await verdict(Self.rollBackLogin + Self.rollBackSecret) == .seenAtTouch)
    }

    /// The trail tells a later state of the user.
    @Test(arguments: [rollBackUser, rollBackUser + rollBackSecret])
    func aUserThatIsRolledBackWithoutHisLoginsIsRefused(sql: String) async throws {
        let history = try await VaultImage.history()
        let vault = try history.current.layOut()
        let older = try history.older.layOut()
        try RawDatabase(vault.path).execute("ATTACH '\(older.path)' AS older; \(sql)")
        let store = try vault.open()
        defer { store.close() }
        let whole = try history.current.layOut().open()
        let login = try #require(try await whole.user(Self.victim).logins.first)
        whole.close()
        await #expect(throws: StoreError.self) { try await store.user(Self.victim) }
        await #expect(throws: StoreError.self) { try await store.session(.user(Self.victim)) }
        await #expect(throws: StoreError.self) { try await store.session(.login(login)) }
        await #expect(throws: StoreError.self) { try await store.login(login) }
        #expect(Set(try await store.verify().findings.map(\.place)).isSuperset(of: ["user", "login"]))
        await #expect(throws: StoreError.self) { try await store.updateUser(Self.victim) { $0.status = .disabled } }
        await #expect(throws: StoreError.self) { try await store.login(login) }
        #expect(Set(try await store.verify().findings.map(\.place)).isSuperset(of: ["user", "login"]))
    }

    /// All of a user's rows at once are as they once were. No read of this user alone can tell; the audit trail can.
    @Test func auditTrailRevealsAWhollyRolledBackUser() async throws {
        let history = try await VaultImage.history()
        let vault = try history.current.layOut()
        let older = try history.older.layOut()
        let database = try RawDatabase(vault.path)
        try database.execute(
            "ATTACH '\(older.path)' AS older; \(Self.rollBackLogin) \(Self.rollBackSecret) \(Self.rollBackUser)")
        let store = try vault.open()
        defer { store.close() }
        let report = try await store.verify()
        #expect(report.findings.map(\.place).contains("user"))
        #expect(report.findings.contains { $0.problem.contains("older than the audit trail") })
    }

    @Test func aDeletedLoginIsMissed() async throws {
        let sql = """
            DELETE FROM refreshIntent WHERE login = \(Self.loginOfVictim);
            DELETE FROM loginSecret WHERE login = \(Self.loginOfVictim);
            DELETE FROM login WHERE id = \(Self.loginOfVictim);
            """
        #expect(try await verdict(sql) == .seenAtTouch)
        #expect(try await verdict("DELETE FROM loginSecret WHERE login = \(Self.loginOfVictim)") == .seenAtTouch)
    }

    @Test func aDeletedUserIsMissed() async throws {
        let sql = """
            DELETE FROM loginSecret WHERE login = \(Self.loginOfVictim);
            DELETE FROM login WHERE id = \(Self.loginOfVictim);
            DELETE FROM user WHERE id = \(Self.ofVictim);
            """
        #expect(try await verdict(sql) == .seenAtTouch)
    }

    /// It is listed as damaged, and stands in nobody's way.
    @Test func aLoginThatIsAddedIsRefused() async throws {
        let copy = """
            INSERT INTO login SELECT 900, randomblob(16), user, provider, chain, generation, revision, incarnation,
                dueAt, expiresAt, refreshTag, keyTag, cell FROM login WHERE id = \(Self.loginOfVictim);
            """
        #expect(try await verdict(copy) == .seenByVerify)
    }

    /// A login that was removed, and a user that was erased, come back from an older backup.
    @Test func rowsOfAnOlderBackupAreRefused() async throws {
        let history = try await VaultImage.history()
        let vault = try history.current.layOut()
        let store = try vault.open()
        let removed = try #require(try await store.user(SampleVault.manyLogins[0]).logins.first)
        try await store.updateLogin(removed) { $0.isRemoved = true }
        try await store.updateUser(Self.victim) { $0.isErased = true }
        #expect(try await store.verify().isClean)
        store.close()

        let backup = try history.current.layOut()
        let database = try RawDatabase(vault.path)
        try database.execute(
            """
            ATTACH '\(backup.path)' AS backup;
            INSERT OR IGNORE INTO user SELECT * FROM backup.user;
            INSERT OR IGNORE INTO login SELECT * FROM backup.login;
            INSERT OR IGNORE INTO loginSecret SELECT * FROM backup.loginSecret;
            """)
        let reopened = try vault.open()
        defer { reopened.close() }
        await #expect(throws: StoreError.self) { try await reopened.login(removed) }
        await #expect(throws: StoreError.self) { try await reopened.session(.login(removed)) }
        let report = try await reopened.verify()
        #expect(report.findings.contains { $0.place == "login" && $0.subject == removed.text })
        #expect(report.findings.contains { $0.place == "user" && $0.problem.contains("older than the audit trail") })
    }

    // MARK: Audit trail

    @Test(arguments: [
        "DELETE FROM audit WHERE sequence = (SELECT min(sequence) FROM audit)",
        "DELETE FROM audit WHERE sequence = (SELECT max(sequence) / 2 FROM audit)",
        "DELETE FROM audit WHERE sequence > (SELECT max(sequence) / 2 FROM audit)",
        "DELETE FROM audit",
        "UPDATE audit SET time = time - 1 WHERE sequence = (SELECT max(sequence) / 2 FROM audit)",
        "UPDATE audit SET kind = kind + 1 WHERE sequence = (SELECT max(sequence) FROM audit)",
        "UPDATE audit SET user = NULL WHERE sequence = (SELECT max(sequence) FROM audit WHERE user IS NOT NULL)",
        """
        INSERT INTO audit SELECT sequence + 1, time, kind, user, login, provider, revision, detailCell, mac, NULL
        FROM audit ORDER BY sequence DESC LIMIT 1
        """,
        """
        UPDATE audit SET (time, kind, user, login, provider, revision, detailCell, mac) =
            (SELECT time, kind, user, login, provider, revision, detailCell, mac FROM audit AS other
             WHERE other.sequence = audit.sequence + 1)
        WHERE sequence = (SELECT max(sequence) / 2 FROM audit)
        """,
    ])
    func aChangedAuditTrailIsFound(sql: String) async throws {
        let history = try await VaultImage.history()
        let vault = try history.current.layOut()
        try RawDatabase(vault.path).execute(sql)
        let store = try vault.open()
        defer { store.close() }
        let report = try await store.verify()
        #expect(!report.isClean, "\(sql)")
        for user in SampleVault.userIds { await #expect(throws: Never.self) { _ = try await store.user(user) } }
    }

    /// Everything after the last change of a user or provider can be cut off unseen: only a witness that is kept apart
    /// from the vault tells of that.
    @Test func cutTrailIsFoundIfAUserOrProviderChangedSince() async throws {
        let history = try await VaultImage.history()
        let scout = try RawDatabase(of: history.current.layOut())
        let last = try scout.integer("SELECT max(sequence) FROM audit")
        let lastBound = try scout.integer("SELECT max(sequence) FROM audit WHERE revision IS NOT NULL")
        var found = 0
        for sequence in 0..<last {
            let vault = try history.current.layOut()
            try RawDatabase(vault.path).execute("DELETE FROM audit WHERE sequence > \(sequence)")
            let store = try vault.open()
            defer { store.close() }
            let isClean = try await store.verify().isClean
            if !isClean { found += 1 }
            if sequence < lastBound { #expect(!isClean, "cut after \(sequence) of \(last)") }
        }
        print("audit: \(last) places to cut the trail, \(found) found, the last \(Int(last) - found) need a witness")
    }
}
