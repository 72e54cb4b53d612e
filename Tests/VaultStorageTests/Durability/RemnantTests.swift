import Foundation
import Testing
import VaultCrypto

import VaultSQLite
import VaultStorage

/// What is left of an erased user in the vault's files.
@Suite struct RemnantTests {
    private let fixture: VaultFixture
    private let store: SQLiteVaultStore
    /// The user's cell and their login's, as they lie.
    private let cells: [Data]

    init() async throws {
        fixture = try VaultFixture()
        let store = try fixture.create()
        for user in ["alice", "bob"] { _ = try await store.insertLogin(fixture.draft(user)) }
        cells = try RawDatabase(fixture.path).run(
            "SELECT user.cell, login.cell, refreshCell FROM user, login, loginSecret WHERE user.id = 1 AND login.id = 1"
                + " AND loginSecret.login = 1"
        ).joined().map { value in
            guard case .blob(let bytes) = value else { throw CocoaError(.coderInvalidValue) }
            return Data(bytes)
        }
        self.store = store
        #expect(cells.count == 3 && cells.allSatisfy { $0.count > 100 })
        #expect(try isLeft("-wal"))
    }

    /// The database file itself only once it is closed: closing another descriptor of it would drop SQLite's locks.
    private func isLeft(_ suffix: String) throws -> Bool {
        let bytes = try Data(contentsOf: URL(filePath: fixture.path + suffix))
        return cells.contains { bytes.range(of: $0) != nil }
    }

    private func erase() async throws {
        try await store.updateUser("alice") { $0.isErased = true }
    }

    @Test func anErasedUserIsGoneAtOnce() async throws {
        try await erase()
        #expect(try isLeft("-wal"))
        #expect(await store.removeRemnants() == .gone)
        #expect(try !isLeft("-wal"))
        #expect(await store.removeRemnants() == .gone)
        #expect(fixture.walSize < 3 * 4120 + 32)
        _ = try await store.session(.user("bob"))
        store.close()
        #expect(try !isLeft(""))
        #expect(await store.removeRemnants() == .kept(.closed))
    }

    @Test(arguments: [true, false]) func whoReadsKeepsThemUntilHeEnds(isAskedAgain: Bool) async throws {
        let reader = try Probe(["reader", "vault=\(fixture.path)"], program: "fault-probe")
        _ = reader.lines { $0.contains("ready") }
        try await erase()
        #expect(await store.removeRemnants() == .held(processes: [reader.id]))
        #expect(try isLeft("-wal"))
        #expect(reader.release() == 0)
        if isAskedAgain {
            #expect(await store.removeRemnants() == .gone)
        } else {
            let login = try await store.session(.user("bob")).login
            for _ in 0..<10 { try await store.updateLogin(login) { $0.session.attempts += 1 } }
        }
        #expect(try !isLeft("-wal"))
        #expect(try await store.verify().findings == [])
        store.close()
        #expect(try !isLeft(""))
    }

    /// A process that reads now and then does not keep anything.
    @Test func whoeverOnlyHasTheVaultOpenKeepsNothing() async throws {
        let login = try await store.session(.user("bob")).login
        let other = try Probe(fixture, visits: login, "look")
        try await erase()
        #expect(await store.removeRemnants() == .gone)
        #expect(try !isLeft("-wal"))
        #expect(other.release() == 0)
        store.close()
    }

    @Test func theLastCloseLeavesNothing() async throws {
        try await erase()
        store.close()
        #expect(fixture.walSize == 0)
        #expect(try !isLeft(""))
    }
}
