import Foundation
import TestSupport
import Testing
import VaultCrypto

@testable import VaultSQLite
@testable import VaultStorage

/// Slots for recipients, keys that are proven, and a new vault key.
@Suite struct RekeyTests {
    fileprivate struct Keys {
        let fixture: VaultFixture
        let store: SQLiteVaultStore
        let spareSlot: KeySlotHandle
        let identity: IdentityUnlocker
        let recoverySlot: KeySlotHandle

        var spare: KeyFileUnlocker { fixture.spareUnlocker }

        init() async throws {
            fixture = try VaultFixture()
            store = try fixture.create()
            _ = try await store.insertLogin(fixture.draft("alice"))
            spareSlot = try await fixture.addSpareKey(to: store)
            identity = try IdentityUnlocker(Self.newIdentity())
            recoverySlot = try await store.addKeySlot(identity, label: "recovery").handle
        }

        static func newIdentity() -> SecretBytes {
            let line = unsafe SecureRandom.bytes(32).withUnsafeBytes {
                unsafe Bech32.encode($0, prefix: "AGE-SECRET-KEY-")
            }
            return SecretBytes(copying: line)
        }

        func open(_ unlocker: any SlotUnlocker) throws -> SQLiteVaultStore {
            try SQLiteVaultStore.open(at: fixture.path, unlocker: unlocker, clock: fixture.clock)
        }

        /// Whether this key opens the vault, whole.
        func opens(_ unlocker: any SlotUnlocker) async throws -> Bool {
            do {
                let store = try open(unlocker)
                defer { store.close() }
                #expect(try await store.verify().findings == [])
                _ = try await store.session(.user("alice"))
                return true
            } catch let error as StoreError where error.code == .wrongKey {
                return false
            }
        }
    }

    // MARK: Recipients

    @Test func anIdentityOpensTheVaultAndWritesToIt() async throws {
        let keys = try await Keys()
        let store = try keys.open(keys.identity)
        #expect(store.openingKeySlot == keys.recoverySlot)
        _ = try await store.insertLogin(keys.fixture.draft("bob"))
        #expect(try await store.verify().findings == [])
        store.close()
        #expect(try await !keys.opens(IdentityUnlocker(Keys.newIdentity())))
    }

    @Test func aVaultIsMadeWithItsRecoverySlots() async throws {
        let fixture = try VaultFixture()
        let contents = (0..<2).map { _ in Keys.newIdentity() }
        let recipients = try contents.map { try #require(try Identity.parse($0).first).recipient }
        let made = try SQLiteVaultStore.create(
            at: fixture.path, firstSlot: fixture.unlocker, label: "test", recipients: recipients, clock: fixture.clock)
        _ = try await made.insertLogin(fixture.draft("alice"))
        #expect(try await made.keySlots().map(\.description.label) == ["test", "recovery", "recovery"])
        #expect(try await made.verify().findings == [])
        made.close()
        for content in contents {
            let store = try SQLiteVaultStore.open(
                at: fixture.path, unlocker: IdentityUnlocker(content), clock: fixture.clock)
            #expect(try await store.verify().findings == [])
            store.close()
        }
    }

    /// Someone without a key writes a recipient of their own into the row, and waits for a new vault key.
    @Test func rekeyIgnoresAPlantedRecipient() async throws {
        let keys = try await Keys()
        let planted = Keys.newIdentity()
        let recipient = try #require(try Identity.parse(planted).first).recipient
        let hex = recipient.bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        try keys.fixture.edit("UPDATE keySlot SET recipient = x'\(hex)' WHERE kind = 4")
        let findings = try await keys.store.verify().findings
        #expect(findings.contains { $0.place == "keySlot" && $0.problem.contains("another recipient") })
        try await keys.store.rekey(keys.store.planRekey(provenBy: [keys.spare]))
        #expect(try await !keys.opens(IdentityUnlocker(planted)))
        keys.store.close()
        // The row names the stranger still: the slot of the true identity is damaged, and that is found.
        #expect(throws: StoreError.self) { try keys.open(keys.identity).close() }
    }

    /// Everyone who knows the recipient can seal a key for it, and make a vault's row with that key.
    @Test func identityHolderRefusesReplacedVaultKey() async throws {
        let keys = try await Keys()
        let store = try keys.open(keys.identity)
        let vaultKey = try SealingKey.generate()
        let context = store.context
        let description = try #require(try await store.keySlots().first { $0.handle == keys.recoverySlot }).description
        guard case .recipient(let recipient, _) = description.kind else { throw StoreError(.damaged, "no recipient") }
        let slot = try KeySlot.wrap(
            vaultKey, for: RecipientMaker(recipient), id: description.id, label: description.label,
            createdAt: description.createdAt, vault: context.vaultID)
        var row = context.rows.current
        row.opened = OpenedSlot(vaultKey: vaultKey, slot: try ProvenKeySlot(slot))
        row.keyring = try Keyring.generate()
        row.revision += 1
        row.manifest.add(slot)
        let keyring = try row.sealKeyring(context.vaultID)
        let manifest = try row.sealManifest(context.vaultID)
        let connection = try Connection(path: keys.fixture.path)
        try connection.execute("PRAGMA wal_autocheckpoint = 0; BEGIN IMMEDIATE")
        let update = try Statement(connection, "UPDATE vault SET revision = ?1, keyringCell = ?2, manifestCell = ?3")
        update.bind(1, row.revision)
        update.bind(2, keyring)
        update.bind(3, manifest)
        try update.run()
        guard case .recipient(_, let share) = slot.description.kind else { return }
        let replace = try Statement(connection, "UPDATE keySlot SET keyID = ?1, share = ?2, cell = ?3 WHERE kind = 4")
        replace.bind(1, slot.description.keyID.bytes)
        replace.bind(2, share)
        replace.bind(3, slot.wrappedVaultKey)
        try replace.run()
        try connection.execute("COMMIT")
        let error = await #expect(throws: StoreError.self) {
            _ = try await store.insertLogin(keys.fixture.draft("mallory"))
        }
        #expect(error?.code == .quarantined(table: "keySlot", handle: keys.recoverySlot.text))
    }

    // MARK: Proofs

    @Test func aProofIsRecordedForTheSlotThatOpenedAndForNoOther() async throws {
        let keys = try await Keys()
        #expect(try await keys.store.keySlots().allSatisfy { $0.provenAt == nil })
        keys.fixture.advance(by: .seconds(60))
        try await keys.store.testKeySlot(keys.recoverySlot, with: keys.identity)
        let proven = try await keys.store.keySlots().filter { $0.provenAt != nil }
        #expect(proven.map(\.handle) == [keys.recoverySlot] && proven.first?.provenAt == keys.fixture.now)
        #expect(try await keys.store.auditEntries(after: 0, limit: 1_000).last?.kind == .keySlotProven)
        let error = await #expect(throws: StoreError.self) {
            try await keys.store.testKeySlot(keys.recoverySlot, with: keys.spare)
        }
        #expect(error?.code == .wrongKey)
        let missing = await #expect(throws: StoreError.self) {
            try await keys.store.testKeySlot(.random(), with: keys.spare)
        }
        #expect(missing?.code == .notFound(.keySlot))
        #expect(try await keys.store.keySlots(openedBy: keys.spare) == [keys.spareSlot])
        // A removed slot takes its proof along.
        try await keys.store.removeKeySlot(keys.recoverySlot)
        #expect(keys.store.context.rows.current.manifest.proofs.keys.contains(keys.recoverySlot.bytes) == false)
        #expect(try await keys.store.verify().findings == [])
    }

    @Test func whatOpenedTheVaultIsProvenByTheNextChangeOfItsRow() async throws {
        let keys = try await Keys()
        let other = try keys.open(keys.spare)
        #expect(try await other.keySlots().allSatisfy { $0.provenAt == nil })
        _ = try await other.putProvider(.sample(at: keys.fixture.now), replacing: nil)
        #expect(try await keys.store.keySlots().filter { $0.provenAt != nil }.map(\.handle) == [keys.spareSlot])
    }

    // MARK: A new vault key

    @Test func slotsWhoseKeysAreAtHandFollowAndTheOthersGo() async throws {
        let keys = try await Keys()
        let plan = try await keys.store.planRekey(provenBy: [])
        #expect(plan.dropped.map(\.handle) == [keys.spareSlot])
        #expect(plan.kept.count == 2)
        #expect(try await keys.opens(keys.spare))
        try await keys.store.rekey(plan)
        #expect(try await !keys.opens(keys.spare))
        #expect(try await keys.opens(keys.identity))
        #expect(try await keys.opens(keys.fixture.unlocker))
        #expect(try await keys.store.verify().findings == [])
        let kinds = try await keys.store.auditEntries(after: 0, limit: 1_000).map(\.kind).suffix(2)
        #expect(kinds == [.keySlotRemoved, .vaultRekeyed])
        // This process goes on: it writes, and it removes and adds slots.
        _ = try await keys.store.insertLogin(keys.fixture.draft("bob"))
        let again = try await keys.store.addKeySlot(keys.spare, label: "again").handle
        #expect(try await keys.opens(keys.spare))
        try await keys.store.removeKeySlot(again)
    }

    @Test func keysThatAreGivenKeepTheirSlots() async throws {
        let keys = try await Keys()
        let word = try PassphraseUnlocker(SecretBytes(utf8: "CANARY-word"), cost: .minimum)
        _ = try await keys.store.addKeySlot(word, label: "word")
        let before = try await keys.store.keySlots().map(\.description)
        let plan = try await keys.store.planRekey(provenBy: [keys.spare, word])
        #expect(plan.dropped.isEmpty && plan.kept.map(\.isProven) == [true, true, false, true])
        try await keys.store.rekey(plan)
        let after = try await keys.store.keySlots()
        #expect(after.map(\.description.id) == before.map(\.id))
        // The keys are the same, but for the recipient's.
        #expect(zip(after, before).map { $0.description.keyID == $1.keyID } == [true, true, false, true])
        #expect(after.map { $0.provenAt != nil } == [true, true, false, true])
        for unlocker in [keys.spare, word, keys.identity, keys.fixture.unlocker] as [any SlotUnlocker] {
            #expect(try await keys.opens(unlocker))
        }
        let stranger = try PassphraseUnlocker(SecretBytes(utf8: "another"), cost: .minimum)
        let error = await #expect(throws: StoreError.self) {
            _ = try await keys.store.planRekey(provenBy: [stranger])
        }
        #expect(error?.code == .wrongKey)
    }

    @Test func otherProcessesGoOnUnlessTheirSlotIsGone() async throws {
        let keys = try await Keys()
        let (same, recovering, dropped) = try (
            keys.open(keys.fixture.unlocker), keys.open(keys.identity), keys.open(keys.spare)
        )
        for _ in 0..<2 {
            try await keys.store.rekey(keys.store.planRekey(provenBy: []))
            for (index, store) in [same, recovering].enumerated() {
                #expect(try await store.keySlots().count == 2)
                _ = try await store.session(.user("alice"))
                _ = try await store.putProvider(
                    .sample("p\(index)\(UUID())", at: keys.fixture.now), replacing: nil)
            }
        }
        let error = await #expect(throws: StoreError.self) {
            _ = try await dropped.insertLogin(keys.fixture.draft("bob"))
        }
        #expect(error?.code == .wrongKey && error?.message.contains("vault key was replaced") == true)
        // They may replace it, too.
        try await same.rekey(same.planRekey(provenBy: []))
        #expect(try await keys.store.verify().findings == [])
        _ = try await recovering.insertLogin(keys.fixture.draft("carol"))
    }

    @Test func aPlanIsVoidOnceTheSlotsHaveChanged() async throws {
        let keys = try await Keys()
        let plan = try await keys.store.planRekey(provenBy: [keys.spare])
        let other = try keys.open(keys.fixture.unlocker)
        let word = try PassphraseUnlocker(SecretBytes(utf8: "CANARY-word"), cost: .minimum)
        _ = try await other.addKeySlot(word, label: "word")
        let error = await #expect(throws: StoreError.self) { try await keys.store.rekey(plan) }
        #expect(error?.code == .conflict)
        for unlocker in [word, keys.spare, keys.identity] as [any SlotUnlocker] {
            #expect(try await keys.opens(unlocker))
        }
    }

    /// Who kept the rows of a removed slot, and its key, has the old vault key alone.
    @Test func slotsFromBeforeThatArePutBackOpenNothing() async throws {
        let keys = try await Keys()
        try keys.fixture.edit("VACUUM INTO '\(keys.fixture.directory.file("kept.db"))'")
        try await keys.store.removeKeySlot(keys.spareSlot)
        try await keys.store.rekey(keys.store.planRekey(provenBy: []))
        keys.store.close()
        try keys.fixture.edit(
            """
            ATTACH '\(keys.fixture.directory.file("kept.db"))' AS kept;
            INSERT INTO main.keySlot SELECT * FROM kept.keySlot WHERE label = 'spare'
            """)
        let error = #expect(throws: StoreError.self) { try keys.open(keys.spare) }
        #expect(error?.code == .damaged)
        #expect(throws: Never.self) { try keys.open(keys.fixture.unlocker).close() }
    }
}
