import Testing
import VaultCrypto
import VaultSQLite
import VaultStorage

/// A damaged login hides no other login of its user, and damaged revocations hide no other revocation.
@Suite struct DamagedLoginTests {
    private func vault(
        logins: Int, terminated: Set<Int> = []
    ) async throws -> (VaultFixture, SQLiteVaultStore, [LoginHandle]) {
        let fixture = try VaultFixture()
        let store = try fixture.create()
        var handles: [LoginHandle] = []
        for number in 0..<logins {
            var draft = fixture.draft("alice", "alice-\(number)")
            if terminated.contains(number) { draft.session.state = .terminated }
            handles.append(try await store.insertLogin(draft).handle)
        }
        return (fixture, store, handles)
    }

    private static let ways = [
        "UPDATE login SET generation = generation + 1 WHERE id = %",
        "UPDATE login SET cell = randomblob(length(cell)) WHERE id = %",
        "UPDATE login SET refreshTag = randomblob(3) WHERE id = %",
        "DELETE FROM loginSecret WHERE login = %; DELETE FROM login WHERE id = %",
        """
        INSERT INTO login SELECT id - 100, randomblob(16), user, provider, chain, generation, revision, incarnation,
            dueAt, expiresAt, refreshTag, keyTag, cell FROM login WHERE id = %;
        DELETE FROM loginSecret WHERE login = %; DELETE FROM login WHERE id = %
        """,
    ]

    @Test(arguments: ways, [1, 2]) func theHealthyLoginIsFound(_ sql: String, _ row: Int) async throws {
        let (fixture, store, handles) = try await vault(logins: 2)
        await #expect(throws: StoreError.self) { try await store.session(.user("alice")) }
        try fixture.edit(sql.replacing("%", with: "\(row)"))
        #expect(try await store.session(.user("alice")).login == handles[2 - row])
        #expect(try await store.session(.login(handles[2 - row], ofUsers: "alice")).login == handles[2 - row])
        await #expect(throws: StoreError.self) { try await store.session(.login(handles[row - 1], ofUsers: "alice")) }
    }

    /// Somebody with write access has put a row before the only one.
    @Test func aPlantedRowHidesNothing() async throws {
        let (fixture, store, handles) = try await vault(logins: 1)
        for id in [-5, 5] {
            try fixture.edit(
                """
                INSERT INTO login SELECT \(id), randomblob(16), user, provider, chain, generation, revision, incarnation,
                    dueAt, expiresAt, refreshTag, keyTag, cell FROM login WHERE id = 1
                """)
            #expect(try await store.session(.user("alice")).login == handles[0])
        }
    }

    @Test func nothingIsGuessedAmongSeveral() async throws {
        let (fixture, store, handles) = try await vault(logins: 3)
        try fixture.edit("UPDATE login SET generation = generation + 1 WHERE id = 2")
        let error = await #expect(throws: StoreError.self) { try await store.session(.user("alice")) }
        #expect(error?.code == .ambiguousLogin([handles[0], handles[2]]))
    }

    /// The damaged one may have been the living one: an ended login is not given in its place.
    @Test func anEndedLoginDoesNotStandInForADamagedOne() async throws {
        let (fixture, store, handles) = try await vault(logins: 2, terminated: [0])
        #expect(try await store.session(.user("alice")).login == handles[1])
        try fixture.edit("UPDATE login SET generation = generation + 1 WHERE id = 2")
        let error = await #expect(throws: StoreError.self) { try await store.session(.user("alice")) }
        #expect(error?.code == .quarantined(table: "login", handle: handles[1].text))
        try fixture.edit("DELETE FROM loginSecret WHERE login = 2; DELETE FROM login WHERE id = 2")
        let missing = await #expect(throws: StoreError.self) { try await store.session(.user("alice")) }
        #expect(missing?.isOfRow == true)
    }

    @Test func theOnlyLoginsDamageIsTold() async throws {
        let (fixture, store, handles) = try await vault(logins: 1)
        try fixture.edit("UPDATE login SET generation = generation + 1 WHERE id = 1")
        let error = await #expect(throws: StoreError.self) { try await store.session(.user("alice")) }
        #expect(error?.code == .quarantined(table: "login", handle: handles[0].text))
        #expect(error?.hint?.contains("vaultctl damage show \(handles[0].text)") == true)
    }

    @Test func changingAUserTellsWhichLoginsAreDamaged() async throws {
        let (fixture, store, handles) = try await vault(logins: 3)
        try fixture.edit("UPDATE login SET generation = generation + 1 WHERE id = 2")
        try fixture.edit("DELETE FROM loginSecret WHERE login = 3; DELETE FROM login WHERE id = 3")
        let damaged = try await store.updateUser("alice") { state in
            state.isErased = true
            return state.damagedLogins
        }
        #expect(Set(damaged) == [handles[1], handles[2]])
        let told = try await store.auditEntries(after: 0, limit: 100).filter { $0.kind == .rowDiscarded }
        #expect(Set(told.compactMap(\.login)) == [handles[1], handles[2]])
        #expect(try await store.verify().findings == [])
    }

    /// More damaged rows than are read at a time, all of them due before the one that opens.
    @Test func damagedRevocationsStarveNoOther() async throws {
        let fixture = try VaultFixture()
        let store = try fixture.create()
        let provider = try await store.putProvider(.sample(at: fixture.now), replacing: nil)
        let records = (0..<301).map { _ in
            OutboxRecord(
                provider: provider.handle, login: nil, user: nil, refreshToken: .canary("late"), accessToken: nil,
                createdAt: fixture.now)
        }
        try await store.addOutbox(records)
        try fixture.edit("UPDATE outbox SET attempts = 1, nextAttemptAt = nextAttemptAt - 1000 WHERE id < 301")
        let due = try await store.dueOutboxEntries(at: fixture.now, limit: 256)
        #expect(due.map(\.handle) == [records[300].handle])
        #expect(try await store.damagedRows(limit: 1_000).count == 300)
        #expect(try await store.damagedRows(limit: 7).count == 7)
    }
}
