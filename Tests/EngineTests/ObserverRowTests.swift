import TestSupport
import Testing
import TokenVaultTesting
import VaultCrypto

@testable import VaultStorage

/// How far observers have got, and which process delivers to each, on each engine.
@Suite struct ObserverRowTests {
    @Test(arguments: TestedPlace.allCases) func oneLivingProcessHasTheClaim(_ place: TestedPlace) async throws {
        let vault = try place.make()
        let (first, second) = (vault.store, try vault.open())
        let claimed = try #require(try await first.claimObserver("mailer", start: "1", head: "9"))
        #expect(claimed == ObserverRecord(name: "mailer", cursor: "1", incarnation: 1, owner: first.owner))
        #expect(try await second.claimObserver("mailer", start: "5", head: "9") == nil)
        #expect(try await second.claimObserver("other", start: "5", head: "9")?.cursor == "5")
        // Asking again changes nothing, and what is known stays.
        #expect(try await first.claimObserver("mailer", start: "5", head: "9") == claimed)
        var moved = claimed
        moved.cursor = "7"
        #expect(try await first.advance(moved))
        #expect(try await second.advance(claimed) == false)
        #expect(try await second.observer("mailer") == moved)
        #expect(try await second.observer("nobody") == nil)
        second.close()
        // A server ends a session only after its client has gone.
        try await eventually { try await first.claimObserver("other", start: "1", head: "9")?.cursor == "5" }
        #expect(try await first.verify().findings == [])
        // Rows for observers are no news for them: that would have no end.
        #expect(try await first.auditHead() == 1)
    }

    @Test(arguments: TestedPlace.allCases) func aProcessGivesTheClaimAway(_ place: TestedPlace) async throws {
        let vault = try place.make()
        let (first, second) = (vault.store, try vault.open())
        defer { second.close() }
        var given = try #require(try await first.claimObserver("mailer", start: "1", head: "9"))
        given.owner = ObserverRecord.nobody
        #expect(try await first.advance(given))
        let taken = try #require(try await second.claimObserver("mailer", start: "5", head: "9"))
        #expect(taken.cursor == "1" && taken.owner == second.owner)
        #expect(try await first.advance(given) == false)
        #expect(try await first.observer("mailer") == taken)
    }

    @Test(arguments: TestedPlace.allCases) func whatIsTooLongIsRefused(_ place: TestedPlace) async throws {
        let vault = try place.make()
        let store = vault.store
        let long = String(repeating: "a", count: 65)
        for (name, cursor) in [(long, "1"), ("mailer", long)] {
            await #expect {
                _ = try await store.claimObserver(name, start: cursor, head: cursor)
            } throws: {
                ($0 as? StoreError)?.code == .invalidValue
            }
        }
        #expect(try await store.observer(long) == nil)
    }

    /// A restored vault has no process that delivers, and says that it is another one than before.
    @Test(arguments: TestedPlace.allCases) func aRestoreFreesTheClaim(_ place: TestedPlace) async throws {
        let vault = try place.make()
        let store = vault.store
        let before = try #require(try await store.claimObserver("mailer", start: "1", head: "9"))
        let manifest = BackupManifest(
            vault: .zero, backup: .random(), madeAt: vault.now, schemaVersion: 9, incarnation: 1, auditSequence: 1,
            auditLink: .genesis, vaultSequence: 1, byteCount: 0, digest: [], counts: [:], slots: [], recipients: [],
            toolVersion: "test")
        _ = try await store.write { try $0.restore(manifest, at: "/b/one", .none) }
        let after = try #require(try await store.observer("mailer"))
        #expect(after.owner == ObserverRecord.nobody && after.cursor == "1" && after.incarnation == before.incarnation)
        #expect(store.context.incarnation == before.incarnation + 1)
        let second = try vault.open()
        defer { second.close() }
        #expect(try await second.claimObserver("mailer", start: "5", head: "9")?.owner == second.owner)
        #expect(try await store.verify().findings == [])
    }

    @Test(arguments: TestedPlace.allCases) func anotherAuditKeyGuardsItToo(_ place: TestedPlace) async throws {
        let vault = try place.make()
        let store = vault.store
        let claimed = try #require(try await store.claimObserver("mailer", start: "1", head: "9"))
        let stale = try vault.open()
        defer { stale.close() }
        try await store.replaceAuditKey()
        #expect(try await store.observer("mailer") == claimed)
        #expect(try await stale.observer("mailer") == claimed)
        #expect(try await store.verify().findings == [])
    }

    /// A row that anyone could have written is not believed. Whoever claims it begins at the end of the trail.
    @Test func aChangedRowIsFoundAndReplaced() throws {
        for engine in try [SQLiteEngine(), MemoryEngine(), PostgreSQLEngine()] as [any TestedEngine] {
            let vault = try TestedVault(engine)
            try vault.write { _ = try $0.claimObserver("mailer", by: 7, start: "1", head: "9") }
            for field in Table.observer.fields {
                #expect(try vault.isFound(changing: field, of: .observer, 1) == true, "\(vault.name) \(field.name)")
            }
            #expect(try vault.check().findings.isEmpty)
            try Self.forge("3", of: vault)
            #expect(try vault.check().findings.map(\.place) == ["observer"])
            let damaged = try vault.read { try $0.damage.all(limit: 10) }
            #expect(damaged.map(\.name.description) == ["observer#1"])
            #expect(try vault.write { try $0.advance(Self.record, by: 7) } == false)
            let claimed = try vault.write { try $0.claimObserver("mailer", by: 8, start: "1", head: "9") }
            #expect(
                claimed
                    == ObserverRecord(name: "mailer", cursor: "9", incarnation: ObserverRecord.unknown, owner: 8))
            #expect(try vault.check().findings.isEmpty)
        }
    }

    @Test func aDamagedRowCanBeDiscarded() throws {
        for engine in try [SQLiteEngine(), MemoryEngine(), PostgreSQLEngine()] as [any TestedEngine] {
            let vault = try TestedVault(engine)
            try vault.write { _ = try $0.claimObserver("mailer", by: 7, start: "1", head: "9") }
            #expect(throws: StoreError.self) { try vault.write { try $0.discard(.row(.observer, id: 1)) } }
            try Self.forge("3", of: vault)
            let discarded = try vault.write { try $0.discard(.row(.observer, id: 1)) }
            #expect(discarded.rowCount == 1 && discarded.row.table == .observer)
            #expect(try vault.keys(of: .observer).isEmpty && vault.check().findings.isEmpty)
        }
    }

    private static let record = ObserverRecord(name: "mailer", cursor: "1", incarnation: 1, owner: 7)

    private static func forge(_ cursor: String, of vault: TestedVault) throws {
        try vault.engine.write { tables in
            let update = try tables.cursor(
                Query(.update(.observer, columns: ["cursor"], first: 2, where: [.equal(Table.observer["id"], 1)])))
            update.bind(1, 1)
            update.bind(2, cursor)
            try update.run()
        }
    }
}
