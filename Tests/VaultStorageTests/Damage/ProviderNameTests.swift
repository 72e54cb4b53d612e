import Testing
import VaultCrypto

@testable import VaultSQLite
@testable import VaultStorage

/// Providers are found by a keyed hash of their names.
@Suite struct ProviderNameTests {
    private func damage(_ fixture: VaultFixture, _ name: ProviderHandle) throws {
        // Eight bytes: one of a ciphertext may be zero already.
        try fixture.edit(
            """
            UPDATE provider SET cell = CAST(substr(cell, 1, 100) || zeroblob(8) || substr(cell, 109) AS BLOB)
            WHERE handle = x'\(Hexadecimal.text(name.bytes.array))'
            """)
    }

    @Test func aNameIsFoundWithoutOpeningOthers() async throws {
        let fixture = try VaultFixture()
        let store = try fixture.create()
        let handles = try await withThrowingTaskGroup(of: ProviderHandle.self) { group in
            for name in ["a", "b", "c"] {
                group.addTask { try await store.putProvider(.sample(name, at: fixture.now), replacing: nil).handle }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        let whole = try await store.provider(named: "b")
        for handle in handles where handle != whole.handle { try damage(fixture, handle) }
        #expect(try await store.provider(named: "b") == whole)
        await #expect(throws: StoreError.notFound(.provider)) { try await store.provider(named: "d") }
        let error = await #expect(throws: StoreError.self) { try await store.provider(named: "a") }
        #expect(error?.isOfRow == true)
        let listings = try await store.providers()
        #expect(listings.count == 3)
        #expect(listings.filter { $0.damage == nil }.map(\.provider) == [whole])
        #expect(Set(listings.filter { $0.provider == nil }.compactMap(\.handle)).count == 2)
        // The others are added, changed and removed; the damaged one's name is not free.
        let added = try await store.putProvider(.sample("e", at: fixture.now), replacing: nil)
        _ = try await store.updateProvider(added.handle) { record, _ in
            record.name = "f"
            return []
        }
        try await store.removeProvider(added.handle)
        let taken = await #expect(throws: StoreError.self) {
            try await store.putProvider(.sample("a", at: fixture.now), replacing: nil)
        }
        #expect(taken?.code == .conflict && taken?.hint?.contains("vaultctl damage") == true)
    }

    /// `String` compares by canonical equivalence, and so do names; they are case-sensitive.
    @Test(arguments: [
        ("caf\u{E9}", "cafe\u{301}"), ("\u{212B}", "\u{C5}"), ("\u{1E69}", "s\u{323}\u{307}"),
        ("\u{D55C}", "\u{1112}\u{1161}\u{11AB}"),
    ])
    func canonicallyEquivalentNamesAreOne(_ name: String, _ other: String) async throws {
        #expect(name == other && Array(name.utf8) != Array(other.utf8))
        let fixture = try VaultFixture()
        let store = try fixture.create()
        let stored = try await store.putProvider(.sample(name, at: fixture.now), replacing: nil)
        #expect(try await store.provider(named: other) == stored)
        #expect(Array(stored.record.name.utf8) == Array(name.utf8))
        let error = await #expect(throws: StoreError.self) {
            try await store.putProvider(.sample(other, at: fixture.now), replacing: nil)
        }
        #expect(error?.code == .conflict)
        await #expect(throws: StoreError.notFound(.provider)) { try await store.provider(named: name + "x") }
    }

    @Test func aRenamedProviderIsFoundUnderItsNewNameOnly() async throws {
        let fixture = try VaultFixture()
        let store = try fixture.create()
        let acme = try await store.putProvider(.sample(at: fixture.now), replacing: nil)
        _ = try await store.updateProvider(acme.handle) { record, _ in
            record.name = "globex"
            return []
        }
        await #expect(throws: StoreError.notFound(.provider)) { try await store.provider(named: "acme") }
        #expect(try await store.provider(named: "globex").handle == acme.handle)
        _ = try await store.putProvider(.sample("acme", at: fixture.now), replacing: nil)
    }

    @Test func anOlderVaultsProvidersGetTheirIndex() async throws {
        let fixture = try VaultFixture()
        let store = try fixture.create()
        let acme = try await store.putProvider(.sample(at: fixture.now), replacing: nil)
        let other = try await store.putProvider(.sample("other", at: fixture.now), replacing: nil)
        store.close()
        try fixture.edit("UPDATE provider SET nameIndex = NULL")
        try damage(fixture, other.handle)
        let again = try fixture.open()
        #expect(try fixture.integer("SELECT count(*) FROM provider WHERE nameIndex IS NULL") == 1)
        #expect(try await again.provider(named: "acme") == acme)
        #expect(try await again.damagedRows(limit: 10).map(\.provider) == [other.handle])
        await #expect(throws: StoreError.notFound(.provider)) { try await again.provider(named: "other") }
        // What was taken away while the vault is open is found all the same, and filled in by the next change.
        try fixture.edit("UPDATE provider SET nameIndex = NULL")
        #expect(try await again.provider(named: "acme") == acme)
        let error = await #expect(throws: StoreError.self) {
            try await again.putProvider(.sample("acme", at: fixture.now), replacing: nil)
        }
        #expect(error?.code == .conflict)
        _ = try await again.putProvider(.sample("new", at: fixture.now), replacing: nil)
        #expect(try fixture.integer("SELECT count(*) FROM provider WHERE nameIndex IS NULL") == 1)
        _ = try await again.discardDamagedRow(.handle(other.handle.bytes))
        #expect(try await again.verify().findings == [])
    }

    @Test func anIndexOfAnotherNameIsNoticed() async throws {
        let fixture = try VaultFixture()
        let store = try fixture.create()
        let acme = try await store.putProvider(.sample(at: fixture.now), replacing: nil)
        let other = try await store.putProvider(.sample("other", at: fixture.now), replacing: nil)
        let index = try fixture.bytes("SELECT nameIndex FROM provider WHERE id = 2")
        try fixture.edit("DELETE FROM provider WHERE id = 2")
        try fixture.edit("UPDATE provider SET nameIndex = x'\(Hexadecimal.text(index))' WHERE id = 1")
        let reads: [@Sendable () async throws -> StoredProvider] = [
            { try await store.provider(named: "other") }, { try await store.provider(acme.handle) },
        ]
        for read in reads {
            let error = await #expect(throws: StoreError.self) { try await read() }
            #expect(error?.isOfRow == true)
        }
        await #expect(throws: StoreError.notFound(.provider)) { try await store.provider(other.handle) }
        #expect(try await store.verify().findings.contains { $0.place == "provider" })
    }

    /// Nothing that is done to one provider, or to find it, looks at all providers or all logins.
    @Test(arguments: [
        Query.provider.sql, Query.providerByName.sql, Query.unnamedProviders.sql, Query.refreshableLoginsOfProvider.sql,
        Query.anyRefreshableLoginOfProvider.sql, Query.anyLoginOfProvider.sql, Query.providersOfUser.sql,
        "SELECT max(revision) FROM audit WHERE provider = ?1 AND revision IS NOT NULL",
    ])
    func itIsFoundByAnIndex(_ sql: String) async throws {
        let fixture = try VaultFixture()
        try fixture.create().close()
        let plan = try Statement(try Connection(path: fixture.path), "EXPLAIN QUERY PLAN \(sql)")
        var steps: [String] = []
        while try plan.step() { steps.append(plan.text(3)) }
        #expect(!steps.isEmpty)
        for step in steps where !step.hasPrefix("USE TEMP B-TREE") {
            #expect(step.hasPrefix("SEARCH"), "\(sql): \(steps)")
        }
    }
}
