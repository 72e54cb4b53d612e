import Foundation
import Synchronization
import TestSupport
import Testing
import VaultCrypto

@testable import VaultSQLite
@testable import VaultStorage

/// A store that is let go of without having been closed ends all the same, and others see it end.
@Suite struct DroppedStoreTests {
    /// Waits until the owner of that number is seen to be gone, and the vault is whole.
    private func expectEnd(of owner: Int64, in fixture: VaultFixture) async throws {
        let other = try fixture.open()
        defer { other.close() }
        // Its byte of the lock file is let go.
        try await eventually { !other.isOwnerAlive(owner) }
        #expect(try await other.verify().findings == [])
    }

    @Test func idle() async throws {
        let fixture = try VaultFixture()
        var store: SQLiteVaultStore? = try fixture.create()
        _ = try await store?.insertLogin(fixture.draft("alice"))
        let owner = try #require(store?.owner)
        weak let left = store
        store = nil
        #expect(left == nil)
        try await expectEnd(of: owner, in: fixture)
    }

    @Test func withOperationsQueued() async throws {
        let fixture = try VaultFixture()
        var store: SQLiteVaultStore? = try fixture.create()
        let owner = try #require(store?.owner)
        let gate = DispatchSemaphore(value: 0)
        try await withThrowingTaskGroup(of: Void.self) { group in
            // The first holds the writer until all others wait behind it.
            group.addTask { [store] in try await store?.write { _ in gate.wait() } }
            for number in 0..<20 {
                group.addTask { [store] in _ = try await store?.insertLogin(fixture.draft("user-\(number)")) }
            }
            store = nil
            gate.signal()
            try await group.waitForAll()
        }
        try await expectEnd(of: owner, in: fixture)
        #expect(try fixture.integer("SELECT count(*) FROM login") == 20)
    }

    /// The last reference is released by an operation, as bodies do that hold on to a vault.
    @Test func byTheWriterThread() async throws {
        for _ in 0..<10 {
            let fixture = try VaultFixture()
            let owner = try await Self.writeAndLetGo(fixture)
            try await expectEnd(of: owner, in: fixture)
        }
    }

    /// Keeps a store alive, and is let go of on the writer's thread.
    private final class Holder: Sendable {
        let store: Mutex<SQLiteVaultStore?>

        init(_ store: SQLiteVaultStore) { self.store = Mutex(store) }
    }

    private static func writeAndLetGo(_ fixture: VaultFixture) async throws -> Int64 {
        let holder = Holder(try fixture.create())
        let (owner, writer) = try holder.store.withLock { store in
            let store = try #require(store)
            return (store.owner, store.writer)
        }
        let wasLast = Flag()
        try await writer.perform(.nothing) { transaction in
            try transaction.audit(AuditEvent(.userChanged), about: AuditSubject())
            weak let left = holder.store.withLock { $0 }
            holder.store.withLock { $0 = nil }
            if left == nil { wasLast.set() }
        }
        #expect(wasLast.isSet, "the last reference was released elsewhere")
        return owner
    }

    @Test func closingTwiceAtOnceWaitsForTheOneEnd() async throws {
        let fixture = try VaultFixture()
        let store = try fixture.create()
        _ = try await store.insertLogin(fixture.draft("alice"))
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    await store.shutDown()
                    let other = try? fixture.open()
                    #expect(other?.isOwnerAlive(store.owner) == false)
                    other?.close()
                }
            }
        }
        await #expect(throws: StoreError.closed) { try await store.insertLogin(fixture.draft("bob")) }
    }
}
