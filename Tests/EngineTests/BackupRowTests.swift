import Testing
import VaultCrypto
import VaultStorage

/// What is known of backups, and which logins a restore holds, on each engine.
@Suite struct BackupRowTests {
    @Test(arguments: TestedPlace.allCases) func backupsAreNotedListedAndForgotten(_ place: TestedPlace) async throws {
        let vault = try place.make()
        let store = vault.store
        var backup = BackupRecord(
            handle: .random(), madeAt: vault.now, auditSequence: 1, byteCount: 4_096, path: "/b/one",
            recipients: ["age1x"])
        let begun = backup
        try await store.write { try $0.note(begun) }
        #expect(try await store.backups().compactMap(\.record) == [begun])
        #expect(try await store.statistics().lastBackupAt == nil)
        backup.finishedAt = vault.now
        let finished = backup
        try await store.write { try $0.note(finished) }
        #expect(try await store.backups().compactMap(\.record) == [finished])
        #expect(try await store.statistics().lastBackupAt == vault.now)
        #expect(try await store.verify().findings == [])
        try await store.forgetBackup(finished.handle)
        #expect(try await store.backups().isEmpty)
        await #expect(throws: StoreError.self) { try await store.forgetBackup(finished.handle) }
        #expect(try await store.auditEntries(after: 1, limit: 10).map(\.kind) == [.backupMade, .backupForgotten])
    }

    @Test(arguments: TestedPlace.allCases) func heldLoginsAreAcceptedByProvider(_ place: TestedPlace) async throws {
        let vault = try place.make()
        let store = vault.store
        let acme = try await store.putProvider(vault.provider("acme"), replacing: nil).handle
        let held = try await store.insertLogin(vault.draft("alice", provider: acme)).handle
        let appOnly = try await store.insertLogin(vault.draft("bob")).handle
        let ended = try await store.insertLogin(vault.draft("dave")).handle
        try await store.updateLogin(ended) { $0.session.state = .terminated }
        #expect(try await store.heldLogins(of: acme, limit: 10).logins.isEmpty)
        #expect(try await !store.mayHoldLogins())
        _ = try await store.write { try $0.restore(Self.manifest, at: "/b/one", .none) }
        #expect(try await store.heldLogins(of: acme, limit: 10).logins == [held])
        #expect(try await store.heldLogins(of: nil, limit: 10).logins == [appOnly, ended])
        #expect(try await store.mayHoldLogins())
        // A login that is made afterwards is of the new incarnation.
        let new = try await store.insertLogin(vault.draft("carol", provider: acme)).handle
        #expect(try await store.login(new).isHeld == false)
        #expect(try await store.login(held).isHeld)
        #expect(try await store.acceptRestored([held, new]) { _ in }.living == [held])
        #expect(try await store.login(held).isHeld == false)
        let counts = try await store.heldCounts()
        #expect(counts[acme]?.held == 0 && counts[acme]?.logins == 2)
        // One of the two has ended.
        #expect(counts[nil]?.held == 1 && counts[nil]?.logins == 2)
        let rest = try await store.acceptRestored([appOnly, ended]) { _ in }
        #expect(rest.living == [appOnly] && rest.ended == 1)
        #expect(try await !store.mayHoldLogins())
        #expect(try await store.verify().findings == [])
    }

    @Test func aVaultInMemoryHasNoFileToCopy() async throws {
        let vault = try TestedPlace.memory.make()
        let plan = BackupPlan(target: "/nowhere", allowsSameDevice: true, toolVersion: "test")
        await #expect(throws: StoreError.self) { try await vault.store.backUp(plan) { _, _ in } }
    }

    private static var manifest: BackupManifest {
        BackupManifest(
            vault: .zero, backup: .random(), madeAt: Timestamp(milliseconds: 0), schemaVersion: 7, incarnation: 1,
            auditSequence: 1, auditLink: .genesis, vaultSequence: 1, byteCount: 0, digest: [], counts: [:], slots: [],
            recipients: [],
            toolVersion: "test")
    }
}
