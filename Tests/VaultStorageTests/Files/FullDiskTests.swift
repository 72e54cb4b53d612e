import Testing
import VaultCrypto
import VaultStorage

/// A file system without room: nothing is lost, and what can go on goes on.
@Suite(.serialized, .enabled(if: SmallFileSystem.isPossible, "only root can mount a small file system"))
struct FullDiskTests {
    private func vault(on disk: SmallFileSystem) async throws -> SampleVault {
        let vault = SampleVault(in: try PrivateDirectory(in: disk.path))
        try vault.create()
        return vault
    }

    private func code(_ body: () async throws -> Void) async -> StoreError.Code? {
        do {
            try await body()
            return nil
        } catch {
            return (error as? StoreError)?.code
        }
    }

    @Test(.timeLimit(.minutes(1))) func aFullDiskStopsWritesAloneAndLosesNothing() async throws {
        let disk = try SmallFileSystem(byteCount: 3 << 20)
        let vault = try await vault(on: disk)
        let store = try vault.open()
        defer { store.close() }
        var acknowledged: [String] = []
        for number in 0..<20 {
            _ = try await store.insertLogin(SampleVault.draft(user: "before-\(number)", number: 0, provider: nil))
            acknowledged.append("before-\(number)")
        }
        disk.fill()
        var refused = 0
        for number in 0..<40 {
            let name = "during-\(number)"
            let outcome = await code {
                _ = try await store.insertLogin(SampleVault.draft(user: name, number: 0, provider: nil))
            }
            if let outcome {
                #expect(outcome == .full, "\(outcome)")
                refused += 1
                #expect(throws: StoreError.self) { _ = try store.user(name) }
            } else {
                acknowledged.append(name)
            }
            for user in acknowledged { _ = try store.session(.user(user)) }
        }
        #expect(refused > 20)
        disk.empty()
        for number in 0..<5 {
            _ = try await store.insertLogin(SampleVault.draft(user: "after-\(number)", number: 0, provider: nil))
            acknowledged.append("after-\(number)")
        }
        #expect(try store.verify { _ in }.isClean)
        store.close()
        let reopened = try vault.open()
        defer { reopened.close() }
        for user in acknowledged { _ = try reopened.session(.user(user)) }
        #expect(try reopened.statistics().users == acknowledged.count)
        #expect(try reopened.verify { _ in }.isClean)
        print("full disk: \(refused) writes refused, \(acknowledged.count) acknowledged ones all there")
    }

    @Test(.timeLimit(.minutes(1))) func aVaultOpensOnAFullDisk() async throws {
        let disk = try SmallFileSystem(byteCount: 3 << 20)
        let vault = try await vault(on: disk)
        let first = try vault.open()
        _ = try await first.insertLogin(SampleVault.draft(user: "alice", number: 0, provider: nil))
        first.close()
        disk.fill()
        let store = try vault.open()
        defer { store.close() }
        _ = try store.session(.user("alice"))
    }

    @Test(.timeLimit(.minutes(1))) func noVaultIsMadeOnAFullDisk() async throws {
        let disk = try SmallFileSystem(byteCount: 1 << 20)
        let key = try PrivateDirectory()
        _ = try KeyFile.create(at: key.file("vault.key"))
        let directory = try PrivateDirectory(in: disk.path)
        disk.fill()
        let outcome = await code {
            try SQLiteVaultStore.create(
                at: directory.file("vault.db"), firstSlot: KeyFileUnlocker(path: key.file("vault.key")), label: "x",
                clock: { SteppingClock.start }
            ).close()
        }
        #expect(outcome == .full)
        disk.empty()
        // Nothing half made stands in the way.
        try SQLiteVaultStore.create(
            at: directory.file("vault.db"), firstSlot: KeyFileUnlocker(path: key.file("vault.key")), label: "x",
            clock: { SteppingClock.start }
        ).close()
    }
}
