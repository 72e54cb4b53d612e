import TestSupport
import Testing
import VaultCrypto
import VaultSQLite
import VaultStorage

/// A file system without room: nothing is lost, and what can go on goes on.
@Suite(.serialized, .enabled(if: SmallFileSystem.isPossible, "only root can mount a small file system"))
struct FullDiskTests {
    private func vault(on disk: SmallFileSystem) async throws -> VaultFixture {
        let vault = try VaultFixture(in: PrivateDirectory(in: disk.path))
        try vault.create().close()
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

    @Test func aFullDiskStopsWritesAloneAndLosesNothing() async throws {
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
                await #expect(throws: StoreError.self) { _ = try await store.user(name) }
            } else {
                acknowledged.append(name)
            }
            for user in acknowledged { _ = try await store.session(.user(user)) }
        }
        #expect(refused > 20)
        disk.empty()
        for number in 0..<5 {
            _ = try await store.insertLogin(SampleVault.draft(user: "after-\(number)", number: 0, provider: nil))
            acknowledged.append("after-\(number)")
        }
        #expect(try await store.verify().isClean)
        store.close()
        let reopened = try vault.open()
        defer { reopened.close() }
        for user in acknowledged { _ = try await reopened.session(.user(user)) }
        #expect(try await reopened.statistics().users == acknowledged.count)
        #expect(try await reopened.verify().isClean)
        print("full disk: \(refused) writes refused, \(acknowledged.count) acknowledged ones all there")
    }

    /// Disks of 128 KiB to 4 MiB, full after another number of changes each.
    @Test func spaceMayEndAtAnyStep() async throws {
        let cases = Depth.pick(brief: 12, nightly: 30, deep: 300)
        var tally = Tally()
        for number in 0..<cases {
            // Every third has hardly room for a vault, the others for one of some size.
            let isTiny = number % 3 == 0
            let kibibytes = isTiny ? 128 + number % 30 * 32 : 2048 + number % 30 * 64
            let disk = try SmallFileSystem(byteCount: kibibytes << 10)
            if isTiny {
                try await useUp(disk, &tally)
            } else {
                try await fillUp(disk, after: number * 7 % 40, &tally)
            }
        }
        print("full disk: \(cases) cases, \(tally)")
        #expect(tally.refused > cases)
    }

    private struct Tally: CustomStringConvertible {
        var impossible = 0
        var refused = 0
        var done = 0
        var description: String {
            "\(impossible) without room for a vault, \(refused) changes refused, \(done) acknowledged and all there"
        }
    }

    /// Goes on until there is no room at all; what was acknowledged is there.
    private func useUp(_ disk: SmallFileSystem, _ tally: inout Tally) async throws {
        let vault = try VaultFixture(in: PrivateDirectory(in: disk.path))
        var generations: [LoginHandle: Int64] = [:]
        do {
            try vault.create().close()
            let store = try vault.open()
            defer { store.close() }
            for number in 0..<1000 {
                try await change(number, vault, store, &generations)
                tally.done += 1
            }
        } catch let error as StoreError {
            #expect(error.code == .full, "\(error)")
            if generations.isEmpty { tally.impossible += 1 } else { tally.refused += 1 }
        }
        if generations.isEmpty { return }
        let store = try vault.open()
        defer { store.close() }
        for (login, generation) in generations {
            #expect(try await store.login(login).position.generation >= generation)
        }
        #expect(try await store.verify().isClean)
    }

    private func fillUp(_ disk: SmallFileSystem, after changes: Int, _ tally: inout Tally) async throws {
        let vault = try VaultFixture(in: PrivateDirectory(in: disk.path))
        try vault.create().close()
        var store = try vault.open()
        var generations: [LoginHandle: Int64] = [:]
        var isOpen = true
        for number in 0..<(changes + 12) {
            if number == changes { disk.fill() }
            do {
                try await change(number, vault, store, &generations)
                tally.done += 1
            } catch let error as StoreError {
                #expect(error.code == .full, "\(error)")
                tally.refused += 1
            }
            if number == changes + 6 {
                store.close()
                isOpen = false
                // It opens where it still has room for its shared memory.
                do { store = try vault.open() } catch {
                    #expect(error.code == .full, "\(error)")
                    break
                }
                isOpen = true
            }
            for (login, generation) in generations {
                #expect(try await store.login(login).position.generation >= generation)
            }
        }
        disk.empty()
        if !isOpen { store = try vault.open() }
        for number in 0..<4 { try await change(number, vault, store, &generations) }
        store.close()
        let reopened = try vault.open()
        defer { reopened.close() }
        for (login, generation) in generations {
            #expect(try await reopened.login(login).position.generation >= generation)
        }
        #expect(try await reopened.verify().isClean)
    }

    /// Every second one a new user, the others a renewal each.
    private func change(
        _ number: Int, _ vault: VaultFixture, _ store: SQLiteVaultStore, _ generations: inout [LoginHandle: Int64]
    ) async throws {
        guard number % 2 == 1, let login = generations.keys.min(by: { $0.text < $1.text }) else {
            let draft = SampleVault.draft(user: "CANARY-\(generations.count)-\(number)", number: 0, provider: nil)
            let login = try await store.insertLogin(draft)
            generations[login.handle] = login.position.generation
            return
        }
        let now = vault.now
        generations[login] = try await store.updateLogin(login) { state in
            state.renew(marker: "\(number)", at: now)
            return state.position.generation
        }
    }

    @Test func aVaultOpensOnAFullDisk() async throws {
        let disk = try SmallFileSystem(byteCount: 3 << 20)
        let vault = try await vault(on: disk)
        let first = try vault.open()
        _ = try await first.insertLogin(SampleVault.draft(user: "alice", number: 0, provider: nil))
        first.close()
        disk.fill()
        let store = try vault.open()
        defer { store.close() }
        _ = try await store.session(.user("alice"))
    }

    @Test func noVaultIsMadeOnAFullDisk() async throws {
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
