import TestSupport
import Testing
import VaultAdministration
import VaultCrypto

@testable import VaultPostgreSQL
@testable import VaultStorage

/// A commit whose answer is lost: what the caller is told is what the vault holds, wherever the connection is cut.
struct LostCommitTests {
    /// In steps of a few bytes, another few each time; `scripts/deep` takes each byte.
    @Test(arguments: CuttingProxy.Direction.allCases)
    func theOutcomeIsToldRightWhereverTheConnectionIsCut(_ direction: CuttingProxy.Direction) async throws {
        let vault = try ServerVault()
        let proxy = try CuttingProxy(to: vault.server.directory)
        let login = try await vault.store.insertLogin(vault.draft("alice")).handle
        let address = try vault.address(through: proxy)
        let count = try Self.bytes(direction, vault, proxy, address, login)
        let step = Depth.pick(brief: 97, nightly: 29, deep: 1)
        var (cuts, stored, undone) = (0, 0, 0)
        for after in stride(from: Int.random(in: 0..<step), through: count, by: step) {
            let batch = ServerWriteBatch(address, vault.store.context, .unknown)
            batch.perform([TestedOperation.relabel(login, "warm")], committed: { _ in })
            let change = TestedOperation.relabel(login, "after \(after)")
            proxy.cut(.init(direction: direction, after: after))
            batch.perform([change], committed: { _ in })
            if proxy.hasCut { cuts += 1 }
            proxy.cut(nil)
            let isThere = try await vault.store.login(login).session.label == "after \(after)"
            try #require(change.isStored == isThere, "cut after \(after) of \(count) bytes \(direction)")
            if isThere { stored += 1 } else { undone += 1 }
            batch.close()
        }
        print("lost commits \(direction): \(count) bytes, \(cuts) cuts, \(stored) stored, \(undone) undone")
        #expect(cuts > count / step / 2)
        #expect(try await vault.store.verify().findings == [])
    }

    /// How many bytes one change takes on its way.
    private static func bytes(
        _ direction: CuttingProxy.Direction, _ vault: ServerVault, _ proxy: CuttingProxy, _ address: ServerAddress,
        _ login: LoginHandle
    ) throws -> Int {
        let batch = ServerWriteBatch(address, vault.store.context, .unknown)
        batch.perform([TestedOperation.relabel(login, "warm")], committed: { _ in })
        let before = proxy.passed[direction] ?? 0
        batch.perform([TestedOperation.relabel(login, "counted")], committed: { _ in })
        batch.close()
        return (proxy.passed[direction] ?? 0) - before
    }

    /// A server that ends in the middle loses nothing that was acknowledged, and the store goes on by itself.
    @Test func theStoreGoesOnAfterTheServerWasEndedAndStarted() async throws {
        let vault = try ServerVault(PostgreSQLServer())
        let login = try await vault.store.insertLogin(vault.draft("alice")).handle
        try await vault.store.updateLogin(login) { $0.session.label = "before" }
        try vault.server.restart()
        #expect(try await vault.store.login(login).session.label == "before")
        try await vault.store.updateLogin(login) { $0.session.label = "after" }
        #expect(try await vault.store.login(login).session.label == "after")
        try await eventually { vault.store.ownsItsLock }
        #expect(try await vault.store.verify().findings == [])
    }

    /// While the server is away nothing hangs, and nothing is taken for damage.
    @Test func withoutAServerCallsEndSoon() async throws {
        let vault = try ServerVault(PostgreSQLServer())
        let login = try await vault.store.insertLogin(vault.draft("alice")).handle
        try vault.server.stop()
        await #expect { try await vault.store.login(login) } throws: { ($0 as? StoreError)?.code == .busy }
        await #expect { try await vault.store.updateLogin(login) { $0.session.label = "x" } } throws: {
            ($0 as? StoreError)?.code == .busy
        }
        try await eventually { !vault.store.ownsItsLock }
        try vault.server.start()
        #expect(try await vault.store.login(login).session.label == nil)
    }
}
