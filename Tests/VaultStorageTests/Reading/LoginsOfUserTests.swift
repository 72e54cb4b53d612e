import TestSupport
import Testing
import VaultCrypto

@testable import VaultSQLite
@testable import VaultStorage

/// The logins of one user: by the user's own cell, and row by row where that does not fit the rows.
struct LoginsOfUserTests {
    private func vault(logins: Int) async throws -> (VaultFixture, SQLiteVaultStore, Set<LoginHandle>) {
        let fixture = try VaultFixture()
        let store = try fixture.create()
        let handles = try await store.write { transaction in
            try (0..<logins).map { _ in try transaction.insertLogin(fixture.draft("alice")).handle }
        }
        _ = try await store.insertLogin(fixture.draft("bob"))
        return (fixture, store, Set(handles))
    }

    private func listed(_ store: SQLiteVaultStore, pageSize: Int) async throws -> [LoginListing] {
        var all: [LoginListing] = []
        while true {
            let page = try await store.logins(ofUser: "alice", after: all.last?.handle, limit: pageSize)
            all += page
            if page.count < pageSize { return all }
        }
    }

    @Test(arguments: [(1, 1), (16, 5), (17, 17), (300, 7), (300, 1_000)])
    func allAreListedOnceInTheOrderOfTheirNames(logins: Int, pageSize: Int) async throws {
        let (fixture, store, handles) = try await vault(logins: logins)
        let all = try await listed(store, pageSize: pageSize)
        #expect(all.count == logins)
        #expect(Set(all.map(\.handle)) == handles)
        #expect(all.allSatisfy { $0.damage == nil && $0.login?.userId == "alice" })
        #expect(all.map(\.handle.bytes) == all.map(\.handle.bytes).sorted())
        withExtendedLifetime(fixture) {}
    }

    /// Rows are missing, so that the user's cell does not tell how many there are.
    @Test func aMissingRowIsListedAsDamage() async throws {
        let (fixture, store, handles) = try await vault(logins: 40)
        let gone = try #require(handles.min { $0.bytes < $1.bytes })
        let row = "hex(handle) = '\(gone.bytes.array.hex.uppercased())'"
        try fixture.edit(
            "DELETE FROM loginSecret WHERE login = (SELECT id FROM login WHERE \(row)); DELETE FROM login WHERE \(row)")
        let all = try await listed(store, pageSize: 9)
        #expect(Set(all.map(\.handle)) == handles)
        #expect(all.first { $0.handle == gone }?.damage?.message.contains("missing") == true)
    }

    /// As many rows as the cell names, but one of them belongs to another user.
    @Test func aRowThatWasGivenToAnotherUserIsNotListedAsTheirs() async throws {
        let (fixture, store, handles) = try await vault(logins: 3)
        let bobs = try #require(try await store.logins(ofUser: "bob", after: nil, limit: 1).first?.handle)
        let (alice, bob) = ("(SELECT min(user) FROM login)", "(SELECT max(user) FROM login)")
        let moved = try #require(handles.min { $0.bytes < $1.bytes })
        try fixture.edit(
            """
            UPDATE login SET user = CASE hex(handle) WHEN '\(moved.bytes.array.hex.uppercased())' THEN \(bob)
            WHEN '\(bobs.bytes.array.hex.uppercased())' THEN \(alice) ELSE user END
            """)
        let all = try await listed(store, pageSize: 10)
        #expect(all.first { $0.handle == moved }?.damage != nil)
        #expect(!all.contains { $0.handle == bobs && $0.login != nil })
        #expect(all.count { $0.login != nil } == 2)
    }

    @Test func whoseCellDoesNotOpenIsListedRowByRow() async throws {
        let (fixture, store, handles) = try await vault(logins: 5)
        try fixture.edit("UPDATE user SET cell = zeroblob(length(cell)) WHERE id = (SELECT min(user) FROM login)")
        let all = try await listed(store, pageSize: 2)
        #expect(Set(all.map(\.handle)) == handles)
        #expect(all.allSatisfy { $0.damage != nil && $0.login == nil })
    }

    @Test func oneOfManyIsChosenByItsName() async throws {
        let (fixture, store, handles) = try await vault(logins: 40)
        let last = try #require(handles.first)
        #expect(try await store.session(.login(last, ofUsers: "alice")).login == last)
        let error = await #expect(throws: StoreError.self) { try await store.session(.user("alice")) }
        guard case .ambiguousLogin(let named)? = error?.code else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(Set(named) == handles)
        // A change of the user changes all of them.
        try await store.updateUser("alice") { state in
            for index in state.logins.indices { state.logins[index].session.label = "x" }
        }
        #expect(try await listed(store, pageSize: 100).allSatisfy { $0.login?.session.label == "x" })
        #expect(try await store.verify().findings == [])
        withExtendedLifetime(fixture) {}
    }
}
