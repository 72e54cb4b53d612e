import Foundation
import TestSupport
import Testing
import VaultCrypto

@testable import VaultSQLite
@testable import VaultStorage

/// Providers, key slots and the vault's own row as they once were, put back by somebody who kept a copy.
struct ManifestTests {
    fileprivate struct Copies {
        let fixture: VaultFixture
        let store: SQLiteVaultStore
        let acme: ProviderHandle
        let spare: KeySlotHandle

        var spareKey: KeyFileUnlocker { fixture.spareUnlocker }

        /// What was kept is from before: another token endpoint, and a key slot that has been removed since.
        init() async throws {
            fixture = try VaultFixture()
            store = try fixture.create()
            acme = try await store.putProvider(.sample(at: fixture.now), replacing: nil).handle
            spare = try await fixture.addSpareKey(to: store)
            let kept = fixture.directory.file("kept.db")
            try fixture.edit("VACUUM INTO '\(kept)'")
            _ = try await store.updateProvider(acme) { record, _ in
                record.tokenEndpoint = "https://new.example/token"
                return []
            }
            try await store.removeKeySlot(spare)
        }

        func putBack(_ tables: String...) throws {
            let attach = "ATTACH '\(fixture.directory.file("kept.db"))' AS kept; BEGIN IMMEDIATE;"
            let sql = tables.map { "DELETE FROM main.\($0); INSERT INTO main.\($0) SELECT * FROM kept.\($0);" }
            try fixture.edit(attach + sql.joined() + "COMMIT")
        }

        /// What a process says that has been running all the time, and one that opens the vault now.
        func eachProcess(_ body: (SQLiteVaultStore) async throws -> Void) async throws {
            try await body(store)
            let other = try fixture.open()
            try await body(other)
            other.close()
        }
    }

    // MARK: Providers

    @Test func aFormerStateOfAProviderIsRefused() async throws {
        let copies = try await Copies()
        try copies.putBack("provider")
        try await copies.eachProcess { store in
            let error = await #expect(throws: StoreError.self) { try await store.provider(copies.acme) }
            #expect(error?.code == .quarantined(table: "provider", handle: copies.acme.text))
            let findings = try await store.verify().findings
            #expect(findings.contains { $0.place == "provider" })
        }
    }

    @Test func aRemovedProviderDoesNotComeBack() async throws {
        let copies = try await Copies()
        try await copies.store.removeProvider(copies.acme)
        try copies.putBack("provider")
        try await copies.eachProcess { store in
            await #expect(throws: StoreError.self) { try await store.provider(copies.acme) }
            let findings = try await store.verify().findings
            #expect(findings.contains { $0.place == "provider" })
        }
    }

    @Test func aMissingProviderIsFound() async throws {
        let copies = try await Copies()
        try copies.fixture.edit("DELETE FROM provider")
        #expect(try await copies.store.verify().findings.contains { $0.problem.contains("manifest names it") })
    }

    /// What another process has changed is read anew, and is no reason to refuse anything.
    @Test func aChangeByAnotherProcessIsTakenOver() async throws {
        let copies = try await Copies()
        let other = try copies.fixture.open()
        for number in 0..<3 {
            let writer = number == 1 ? copies.store : other
            let reader = number == 1 ? other : copies.store
            _ = try await writer.updateProvider(copies.acme) { record, _ in
                record.tokenEndpoint = "https://new.example/token-\(number)"
                return []
            }
            let found = try await reader.provider(copies.acme)
            #expect(found.record.tokenEndpoint == "https://new.example/token-\(number)")
        }
        #expect(try await other.verify().findings == [])
        other.close()
    }

    @Test func anOperationThatFailsLeavesTheManifestAsItWas() async throws {
        let copies = try await Copies()
        let before = copies.store.context.rows.current
        await #expect(throws: StoreError.self) {
            try await copies.store.write { transaction in
                _ = try transaction.put(.sample("other", at: copies.fixture.now), replacing: nil)
                throw StoreError(.conflict, "changed its mind")
            }
        }
        #expect(copies.store.context.rows.current.revision == before.revision)
        _ = try await copies.store.putProvider(.sample("third", at: copies.fixture.now), replacing: nil)
        #expect(copies.store.context.rows.current.revision == before.revision + 1)
        #expect(try await copies.store.verify().findings == [])
    }

    // MARK: The vault's row

    @Test func theVaultsRowIsNotRolledBackWithItsProviders() async throws {
        let copies = try await Copies()
        try copies.putBack("provider", "vault", "keySlot")
        let running = await #expect(throws: StoreError.self) { try await copies.store.provider(copies.acme) }
        #expect(running?.code == .rollbackSuspected)
        let writing = await #expect(throws: StoreError.self) {
            try await copies.store.insertLogin(copies.fixture.draft("alice"))
        }
        #expect(writing?.code == .rollbackSuspected)
        let opening = #expect(throws: StoreError.self) { try copies.fixture.open() }
        #expect(opening?.code == .rollbackSuspected)
    }

    /// With the trail as well, only a running process knows better, or a witness that is kept apart from the vault.
    @Test func runningProcessRefusesRolledBackRowsAndTrail() async throws {
        let copies = try await Copies()
        try copies.putBack("provider", "vault", "keySlot", "audit")
        let error = await #expect(throws: StoreError.self) {
            try await copies.store.insertLogin(copies.fixture.draft("alice"))
        }
        #expect(error?.code == .rollbackSuspected)
        await #expect(throws: StoreError.self) { try await copies.store.provider(copies.acme) }
        try copies.fixture.open().close()
    }

    @Test(arguments: [
        "manifestCell = NULL, revision = 0, auditSequence = 0", "manifestCell = NULL", "revision = revision + 1",
        "revision = 0", "auditSequence = auditSequence + 1", "incarnation = incarnation + 1",
    ])
    func theVaultsRowIsBoundToItsManifest(change: String) async throws {
        let copies = try await Copies()
        try copies.fixture.edit("UPDATE vault SET \(change)")
        #expect(throws: StoreError.self) { try copies.fixture.open() }
        #expect(!(try await copies.store.verify().isClean))
    }

    /// A row in the trail that does not continue the chain must not close the vault.
    @Test func aPlantedAuditRowDoesNotCloseTheVault() async throws {
        let copies = try await Copies()
        try copies.fixture.edit(
            """
            INSERT INTO audit SELECT sequence + 1, time, kind, NULL, NULL, NULL, 99, NULL, mac, NULL FROM audit
            ORDER BY sequence DESC LIMIT 1
            """)
        let store = try copies.fixture.open()
        #expect(!(try await store.verify().isClean))
        store.close()
    }

    @Test func aFormerKeyringIsRefused() async throws {
        let copies = try await Copies()
        let event = AuditEvent(AuditKind(rawValue: 6))
        try await copies.store.write { transaction in
            let next = try transaction.rows.current.keyring.addingPrimaryRoot(madeAt: 1_800_000_000_000)
            try transaction.changeVault(event) { $0.keyring = next }
        }
        _ = try await copies.store.insertLogin(copies.fixture.draft("alice"))
        #expect(try await copies.store.verify().findings == [])
        try copies.fixture.edit(
            """
            ATTACH '\(copies.fixture.directory.file("kept.db"))' AS kept;
            UPDATE main.vault SET keyringCell = (SELECT keyringCell FROM kept.vault)
            """)
        let error = #expect(throws: StoreError.self) { try copies.fixture.open() }
        #expect(error?.code == .damaged)
        #expect(try await copies.store.verify().findings.contains { $0.place == "vault" })
    }

    // MARK: Key slots

    @Test func aRemovedKeySlotThatIsPutBackDoesNotOpenTheVault() async throws {
        let copies = try await Copies()
        #expect(throws: StoreError.self) { try copies.open(with: copies.spareKey) }
        try copies.putBack("keySlot")
        let error = #expect(throws: StoreError.self) { try copies.open(with: copies.spareKey) }
        #expect(error?.code == .quarantined(table: "keySlot", handle: copies.spare.text))
        try await copies.eachProcess { store in
            let findings = try await store.verify().findings
            #expect(findings.contains { $0.place == "keySlot" && $0.subject == copies.spare.text })
        }
    }

    /// The same key again in a slot of today opens the vault, whatever was planted beside it.
    @Test func aPlantedSlotDoesNotHideAGenuineOneOfTheSameKey() async throws {
        let copies = try await Copies()
        let again = try await copies.store.addKeySlot(copies.spareKey, label: "again").handle
        try copies.fixture.edit(
            """
            ATTACH '\(copies.fixture.directory.file("kept.db"))' AS kept;
            INSERT INTO main.keySlot SELECT -id, handle, kind, keyID, salt, operations, memoryKiB, label, createdAt, cell, NULL, NULL, NULL, NULL
            FROM kept.keySlot WHERE label = 'spare'
            """)
        let store = try copies.open(with: copies.spareKey)
        #expect(store.context.openedBy.handle == again)
        store.close()
    }

    @Test(arguments: [false, true])
    func lastWorkingSlotStaysDespiteAnUnusableOne(isPlanted: Bool) async throws {
        let copies = try await Copies()
        if isPlanted {
            try copies.putBack("keySlot")
        } else {
            _ = try await copies.store.addKeySlot(copies.spareKey, label: "again")
            try copies.fixture.edit("UPDATE keySlot SET cell = randomblob(length(cell)) WHERE label = 'again'")
        }
        let working = copies.store.context.openedBy.handle
        let error = await #expect(throws: StoreError.self) { try await copies.store.removeKeySlot(working) }
        #expect(error?.code == (isPlanted ? .lastKeySlot : .keySlotNotProven))
        await #expect(throws: StoreError.self) {
            try await copies.store.removeKeySlot(working, provenBy: copies.spareKey)
        }
        await #expect(throws: StoreError.self) {
            try await copies.store.removeKeySlot(working, provenBy: copies.fixture.unlocker)
        }
        try copies.fixture.open().close()
    }

    /// Two processes, each of which removes the slot by which the other has opened the vault.
    @Test func twoProcessesDoNotRemoveEachOthersSlots() async throws {
        let copies = try await Copies()
        let second = try await copies.store.addKeySlot(copies.spareKey, label: "second").handle
        let other = try copies.open(with: copies.spareKey)
        #expect(other.context.openedBy.handle == second)
        try await other.removeKeySlot(copies.store.context.openedBy.handle)
        let error = await #expect(throws: StoreError.self) { try await copies.store.removeKeySlot(second) }
        #expect(error?.code == .lastKeySlot)
        other.close()
        try copies.open(with: copies.spareKey).close()
    }

    // MARK: Cost

    @Test func aChangeBesideTenThousandProvidersTakesMilliseconds() async throws {
        let fixture = try VaultFixture()
        let store = try fixture.create()
        let event = AuditEvent(AuditKind(rawValue: 6))
        try await store.write { transaction in
            try transaction.changeVault(event) { row in
                for _ in 0..<10_000 {
                    row.manifest.providers[SecureRandom.bytes16()] = CellTag(SecureRandom.bytes16())
                }
            }
        }
        var times: [Duration] = []
        for _ in 0..<9 {
            let start = ContinuousClock.now
            try await store.write { transaction in
                try transaction.changeVault(event) {
                    $0.manifest.providers[SecureRandom.bytes16()] = CellTag(SecureRandom.bytes16())
                }
            }
            times.append(start.duration(to: .now))
        }
        times.sort()
        let size = try fixture.integer("SELECT length(manifestCell) FROM vault")
        print("manifest: \(size) bytes for 10 000 providers, a change takes \(times[4]) (median of 9)")
        let start = ContinuousClock.now
        let other = try fixture.open()
        print("manifest: opened beside 10 000 providers in \(start.duration(to: .now))")
        #expect(other.context.rows.current.manifest == store.context.rows.current.manifest)
        #expect(size < 1_000_000)
    }
}

extension ManifestTests.Copies {
    fileprivate func open(with unlocker: any SlotUnlocker) throws -> SQLiteVaultStore {
        try SQLiteVaultStore.open(at: fixture.path, unlocker: unlocker, clock: fixture.clock)
    }
}
