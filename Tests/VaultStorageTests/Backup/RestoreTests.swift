import Foundation
import TestSupport
import Testing
import VaultCrypto

@testable import VaultSQLite
@testable import VaultStorage

@Suite struct RestoreTests {
    @Test func everyLoginIsHeldAndTheTrailSaysSo() async throws {
        let vault = try await BackedUpVault()
        let before = try BackupFile(at: vault.backup).manifest
        let outcome = try vault.restore()
        #expect(outcome.incarnation == 2 && outcome.accepted == 0)
        let store = try vault.open()
        defer { store.close() }
        #expect(try await store.verify().findings == [])
        let listings = try await store.logins(ofUser: nil, after: nil, limit: 100)
        #expect(listings.count == 10 && listings.allSatisfy { $0.login?.isHeld == true })
        // The row of the backup itself was written after its snapshot.
        #expect(try await store.backups().compactMap(\.record?.path).last == vault.backup)
        let rows = try await store.auditEntries(after: before.auditSequence, limit: 100)
        #expect(rows.first?.kind == .vaultRestored)
        #expect(rows.first?.value("backup") == before.backup.text && rows.first?.value("evidence") == "none")
        let kinds = Dictionary(grouping: rows, by: \.kind).mapValues(\.count)
        #expect(kinds[.logInDropped] == outcome.droppedLogIns && outcome.droppedLogIns == 2)
        #expect(kinds[.renewalDropped] == outcome.droppedRenewals && outcome.droppedRenewals == 3)
    }

    /// What was open in the backup is dropped; that a token may be spent is remembered. Revocations stay.
    @Test func whatWasUnderWayIsDropped() async throws {
        let vault = try await BackedUpVault()
        let original = try vault.sample.open()
        let outbox = try await original.outbox(after: nil, limit: 100).compactMap(\.handle)
        let open = try await original.openIntents(after: nil, limit: 100).intents
        original.close()
        #expect(!outbox.isEmpty && open.count == 3)
        try vault.restore()
        let store = try vault.open()
        defer { store.close() }
        #expect(try await store.outbox(after: nil, limit: 100).compactMap(\.handle) == outbox)
        #expect(try await !store.hasOpenIntents())
        #expect(try await store.statistics().authorizationRequests == 0)
        for intent in open {
            let login = try await store.login(intent.login)
            #expect(login.refresh?.doubtSince == intent.record.doubtSince ?? intent.record.startedAt)
            #expect(login.session.doubtCause == nil)
        }
    }

    /// A fence that was given out after the backup must not be given out again.
    @Test func noFenceIsGivenOutTwice() async throws {
        let vault = try await BackedUpVault()
        let original = try vault.sample.open()
        let now = vault.sample.now
        let user = try await original.user(SampleVault.oneLogin)
        let later = try await original.updateLogin(user.logins[0]) { $0.openIntent(owner: 0, at: now).fence }
        original.close()
        try vault.restore()
        let store = try vault.open()
        defer { store.close() }
        let fence = try await store.updateLogin(user.logins[0]) { $0.openIntent(owner: 0, at: now).fence }
        #expect(fence > later + 1_000_000)
    }

    @Test func nothingIsOverwritten() async throws {
        let vault = try await BackedUpVault()
        let bytes = try FileBytes.read(vault.sample.path)
        for name in ["vault.db", "kept.tvbackup"] {
            #expect(throws: StoreError.self) { try vault.restore(to: name) }
        }
        try FileBytes.write([1], to: vault.sample.directory.file("other.vault-wal"))
        #expect(throws: StoreError.self) { try vault.restore(to: "other.vault") }
        #expect(try FileBytes.read(vault.sample.path) == bytes)
    }

    @Test func aWrongKeyIsToldBeforeAnythingIsCopied() async throws {
        let vault = try await BackedUpVault()
        let other = vault.sample.directory.file("other.key")
        _ = try KeyFile.create(at: other)
        let restoration = try Restoration(
            of: BackupFile(at: vault.backup), to: vault.sample.directory.file("restored.vault"),
            trustsFileSystem: true, .none, clock: vault.clock)
        let names = try vault.names()
        let error = #expect(throws: StoreError.self) {
            try restoration.run(by: KeyFileUnlocker(path: other), policy: .init()) { _, _ in Issue.record("copied") }
        }
        #expect(error?.code == .wrongKey)
        #expect(try vault.names() == names)
    }

    /// A key that was removed from the vault since still opens the backup.
    @Test func theKeysOfThatTimeOpenIt() async throws {
        let vault = try await BackedUpVault()
        let spare = KeyFileUnlocker(path: vault.sample.spareKeyFile)
        let original = try vault.sample.open()
        let slots = try await original.keySlots()
        let slot = try #require(slots.first { $0.description.label == "spare" })
        try await original.removeKeySlot(slot.handle)
        original.close()
        #expect(throws: StoreError.self) { try vault.sample.open(with: vault.sample.spareKeyFile) }
        let report = try BackupFile(at: vault.backup).verify(by: spare, policy: .init(), clock: vault.clock) { _ in }
        #expect(report.isClean)
    }

    /// A new vault key in the vault ends nothing in a backup from before, and takes nothing from it.
    @Test func backupFromBeforeARekeyOpensWithItsOwnKeys() async throws {
        let vault = try await BackedUpVault()
        let original = try vault.sample.open()
        try await original.rekey(original.planRekey(provenBy: []))
        original.close()
        try vault.restore()
        for key in [vault.sample.keyFile, vault.sample.spareKeyFile] {
            let restored = try SQLiteVaultStore.open(
                at: vault.sample.directory.file("restored.vault"), unlocker: KeyFileUnlocker(path: key),
                clock: vault.clock)
            defer { restored.close() }
            #expect(try await restored.verify().findings == [])
        }
        #expect(throws: StoreError.self) { try vault.sample.open(with: vault.sample.spareKeyFile) }
    }

    /// The trail of a backup may have been pruned, and that of a restored vault is.
    @Test func prunedTrailsAreBackedUpAndRestored() async throws {
        let vault = try await BackedUpVault()
        let original = try vault.sample.open()
        let login = try await original.user(SampleVault.oneLogin).logins[0]
        for _ in 0..<30 { try await original.updateLogin(login) { $0.session.attempts += 1 } }
        while try await original.pruneTrail(TrailLimits(before: nil, keepingLast: 3)).hasMore {}
        let path = vault.sample.directory.file("pruned.tvbackup")
        _ = try await original.backUp(BackedUpVault.plan(path)) { _, _ in }
        original.close()
        #expect(try vault.verify(path)?.findings == [])
        try vault.restore(from: path)
        let restored = try vault.open()
        defer { restored.close() }
        let audit = try await restored.verifyAudit()
        #expect(audit.isClean && audit.prunedThrough > 20)
        while try await restored.pruneTrail(TrailLimits(before: nil, keepingLast: 3)).hasMore {}
        #expect(try await restored.verify().findings == [])
        #expect(try await restored.login(login).isHeld)
    }

    // MARK: What is known of the time since

    @Test func onlyLoginsThatMovedAreHeldWhereThatIsKnown() async throws {
        let vault = try await BackedUpVault()
        let original = try vault.sample.open()
        let open = Set(try await original.openIntents(after: nil, limit: 100).intents.map(\.login))
        let moved = try await original.user(SampleVault.oneLogin).logins[0]
        original.close()
        let outcome = try vault.restore(.moved([moved]))
        #expect(outcome.accepted == 10 - 1 - open.count)
        let store = try vault.open()
        defer { store.close() }
        #expect(try await store.verify().findings == [])
        for listing in try await store.logins(ofUser: nil, after: nil, limit: 100) {
            #expect(listing.login?.isHeld == (listing.handle == moved || open.contains(listing.handle)))
        }
    }

    // MARK: Accepting

    @Test func acceptedLoginsAreHeldNoLonger() async throws {
        let vault = try await BackedUpVault()
        try vault.restore()
        let store = try vault.open()
        defer { store.close() }
        let acme = try await store.provider(named: "CANARY-acme").handle
        let page = try await store.heldLogins(of: acme, limit: 4)
        #expect(page.logins.count == 4)
        #expect(try await store.acceptRestored(page.logins) { _ in }.living == page.logins)
        #expect(try await store.acceptRestored(page.logins) { _ in }.living == [])
        for login in page.logins { #expect(try await store.login(login).isHeld == false) }
        let rest = try await store.heldLogins(of: acme, after: page.next, limit: 100)
        #expect(rest.logins.count == 3 && rest.next == nil)
        let counts = try await store.heldCounts()
        #expect(counts[acme]?.held == 3 && counts[acme]?.logins == 7)
        #expect(try await store.heldLogins(of: nil, limit: 10).logins == [])
        #expect(try await store.verify().findings == [])
    }

    /// Restored twice, a login that was never accepted stays held.
    @Test func aRestoreOfARestoredVaultHoldsAllAgain() async throws {
        let vault = try await BackedUpVault()
        try vault.restore()
        let store = try vault.open()
        let acme = try await store.provider(named: "CANARY-acme").handle
        _ = try await store.acceptRestored(try await store.heldLogins(of: acme, limit: 100).logins) { _ in }
        let second = vault.sample.directory.file("second.tvbackup")
        _ = try await store.backUp(BackedUpVault.plan(second)) { _, _ in }
        store.close()
        #expect(try vault.restore(to: "again.vault", from: second).incarnation == 3)
        let again = try vault.open("again.vault")
        defer { again.close() }
        #expect(try await again.heldCounts().values.allSatisfy { $0.held == $0.logins })
    }

    /// A process that has the vault open learns of a new incarnation with its next read.
    @Test func aRunningProcessNoticesANewIncarnation() async throws {
        let vault = try await BackedUpVault()
        let store = try vault.sample.open()
        let other = try vault.sample.open()
        defer { other.close() }
        let login = try await other.user(SampleVault.oneLogin).logins[0]
        #expect(try await other.login(login).isHeld == false)
        let manifest = try BackupFile(at: vault.backup).manifest
        _ = try await store.write { try $0.restore(manifest, at: vault.backup, .none) }
        store.close()
        let now = vault.sample.now
        let isHeld = try await other.updateLogin(login) { state in
            state.session.label = "touched"
            _ = now
            return state.isHeld
        }
        #expect(isHeld)
        #expect(try await other.login(login).isHeld)
    }
}
