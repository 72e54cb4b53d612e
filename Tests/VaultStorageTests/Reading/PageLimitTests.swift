import Testing
import VaultCrypto

@testable import VaultSQLite
@testable import VaultStorage

/// Limits come from query strings: none traps, and none makes a page of everything.
@Suite struct PageLimitTests {
    @Test(arguments: [Int.min, -1, 0]) func lessThanNothingIsNothing(limit: Int) async throws {
        let vault = try await PopulatedVault()
        let store = try vault.fixture.open()
        defer { store.close() }
        let end = Timestamp(milliseconds: .max)
        #expect(try await store.users(after: nil, limit: limit).isEmpty)
        #expect(try await store.logins(ofUser: nil, after: nil, limit: limit).isEmpty)
        #expect(try await store.logins(ofUser: "alice", after: nil, limit: limit).isEmpty)
        #expect(try await store.outbox(after: nil, limit: limit).isEmpty)
        #expect(try await store.dueOutboxEntries(at: end, limit: limit).isEmpty)
        #expect(try await store.auditEntries(after: 0, limit: limit).isEmpty)
        #expect(try await store.openIntents(after: nil, limit: limit).intents.isEmpty)
        #expect(try await store.dueLogins(before: end, limit: limit).logins.isEmpty)
    }

    @Test func aPageHasAnEnd() {
        #expect(Int.max.asPageLimit == 10_000 && 10_001.asPageLimit == 10_000 && 9_999.asPageLimit == 9_999)
    }

    @Test func openIntentsComeInPagesAndEachHasItsTurn() async throws {
        let fixture = try VaultFixture()
        let store = try fixture.create()
        defer { store.close() }
        await #expect(try !store.hasOpenIntents())
        var fences: [Int64] = []
        for number in 0..<7 {
            let login = try await store.insertLogin(fixture.draft("user-\(number)"))
            let now = fixture.now
            fences.append(
                try await store.updateLogin(login.handle) { state in
                    state.openIntent(owner: 77, at: now)
                    return state.intent?.fence ?? 0
                })
        }
        // A damaged one is passed over, and ends no page.
        try fixture.edit("UPDATE refreshIntent SET tries = tries + 1 WHERE fence = \(fences[1])")
        var (found, pages, cursor) = ([Int64](), 0, nil as Int64?)
        repeat {
            let page = try await store.openIntents(after: cursor, limit: 2)
            found += page.intents.map(\.record.fence)
            (pages, cursor) = (pages + 1, page.next)
        } while cursor != nil
        #expect(found == [0, 2, 3, 4, 5, 6].map { fences[$0] })
        #expect(pages == 4)
        #expect(try await store.hasOpenIntents())
    }

    /// Neither is sorted, nor goes through the whole table.
    @Test func openIntentsAreReadInTheOrderOfTheirKey() throws {
        let fixture = try VaultFixture()
        let store = try fixture.create()
        defer { store.close() }
        let connection = try Connection(path: fixture.path)
        let plan = try Statement(connection, "EXPLAIN QUERY PLAN " + Query.openIntents.sql)
        var steps: [String] = []
        while try plan.step() { steps.append(plan.text(3)) }
        #expect(!steps.contains { $0.contains("TEMP B-TREE") || $0.hasPrefix("SCAN") }, "\(steps)")
        #expect(steps.contains { $0.contains("INTEGER PRIMARY KEY (rowid>?)") }, "\(steps)")
    }

    @Test func auditRowsAreNotCountedOneByOne() async throws {
        let vault = try await PopulatedVault()
        let rows = try vault.fixture.integer("SELECT count(*) FROM audit")
        try vault.fixture.edit("DELETE FROM audit WHERE sequence = 5")
        let store = try vault.fixture.open()
        defer { store.close() }
        await #expect(try Int64(store.statistics().auditRows) == rows)
    }
}
