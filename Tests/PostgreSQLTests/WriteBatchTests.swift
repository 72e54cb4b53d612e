import Synchronization
import Testing
import VaultAdministration
import VaultCrypto

@testable import VaultPostgreSQL
@testable import VaultStorage

/// Operations of several callers in one transaction: one that fails takes no other with it.
struct WriteBatchTests {
    private struct Refusal: Error {}

    private func batch(_ vault: ServerVault) -> ServerWriteBatch {
        ServerWriteBatch(vault.address, vault.store.context, .unknown)
    }

    @Test func oneThatThrowsAfterItsChangesIsUndoneAlone() async throws {
        let vault = try ServerVault()
        let logins = try await ["a", "b", "c"].asyncMap { try await vault.store.insertLogin(vault.draft($0)).handle }
        let operations = [
            TestedOperation.relabel(logins[0], "first"),
            TestedOperation { transaction in
                try transaction.updateLogin(logins[1]) { $0.session.label = "undone" }
                throw Refusal()
            },
            TestedOperation.relabel(logins[2], "third"),
        ]
        batch(vault).perform(operations, committed: { _ in })
        #expect(operations.map(\.isStored) == [true, false, true])
        let labels = try await logins.asyncMap { try await vault.store.login($0).session.label }
        #expect(labels == ["first", nil, "third"])
        #expect(try await vault.store.verify().findings == [])
    }

    /// The server says so only when all has been sent.
    @Test func oneWhoseChangeTheServerRefusesIsUndoneAlone() async throws {
        let vault = try ServerVault()
        let logins = try await ["a", "b"].asyncMap { try await vault.store.insertLogin(vault.draft($0)).handle }
        let operations = [
            TestedOperation.relabel(logins[0], "first"),
            TestedOperation { transaction in
                let insert = try transaction.tables.cursor(.secretsOfNoLogin)
                insert.bind(1, 4_711)
                try insert.run()
            },
            TestedOperation.relabel(logins[1], "third"),
        ]
        batch(vault).perform(operations, committed: { _ in })
        #expect(operations.map(\.isStored) == [true, false, true])
        let labels = try await logins.asyncMap { try await vault.store.login($0).session.label }
        #expect(labels == ["first", "third"])
        #expect(try await vault.store.verify().findings == [])
    }

    /// Hardly ever does one fail after it has changed something: so nobody pays for it where none does.
    @Test func operationFailingBeforeAnyChangeRepeatsNoOthers() async throws {
        let vault = try ServerVault()
        let login = try await vault.store.insertLogin(vault.draft("a")).handle
        let operations = [
            TestedOperation.relabel(login, "first"), TestedOperation { _ in throw Refusal() },
            TestedOperation { try $0.updateLogin(LoginHandle(.zero)) { _ in } }, TestedOperation.relabel(login, "last"),
        ]
        batch(vault).perform(operations, committed: { _ in })
        #expect(operations.map(\.isStored) == [true, false, false, true])
        #expect(operations.map { $0.runs.load(ordering: .relaxed) } == [1, 1, 1, 1])
        #expect(try await vault.store.login(login).session.label == "last")
    }
}

extension Query {
    fileprivate static let secretsOfNoLogin = insert(into: .loginSecret, "login")
}

extension Sequence {
    fileprivate func asyncMap<R>(_ body: (Element) async throws -> R) async rethrows -> [R] {
        var results: [R] = []
        for element in self { results.append(try await body(element)) }
        return results
    }
}
