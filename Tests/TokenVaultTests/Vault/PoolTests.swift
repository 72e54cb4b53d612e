import EngineSupport
import FoundationEssentials
import Glibc
import Synchronization
import Testing
import TokenVaultTesting
import VaultAdministration
import VaultCrypto
import VaultStorage

@testable import TokenVault

/// What takes long holds up nobody. In a process of its own, whose pool has one thread left: all others are held.
struct PoolTests {
    /// Every piece of work that must not run on Swift's own threads.
    enum Work: String, CaseIterable, Sendable {
        case verify, survey, status, diagnosis, open, create, addKeySlot, close
    }

    @Test("a sleep of five milliseconds ends in time while two of each kind of work run")
    func shortSleepsAreOnTimeWhilePoolIsBusy() async throws {
        let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
            let scene = try await PoolScene()
            Pool.leaveOneThread()
            var alone: [Duration] = []
            for _ in 0..<21 { alone.append(await Pool.sleep()) }
            let usual = alone.sorted()[10]
            print("pool: one thread, nothing beside: half of the sleeps within \(usual)")
            for work in Work.allCases {
                let sleeps = await Pool.sleeps(beside: scene, work)
                let median = sleeps.sorted()[sleeps.count / 2]
                print(
                    "pool: \(work.rawValue): \(sleeps.count) sleeps, half within \(median), all \(sleeps.max() ?? .zero)"
                )
                #expect(sleeps.count >= 3, "\(work.rawValue)")
                // A busy machine is slow to wake anybody.
                #expect(median < max(.milliseconds(50), usual * 4), "\(work.rawValue)")
            }
        }
        let output = String(decoding: result?.standardOutputContent ?? [], as: UTF8.self)
        for line in output.split(separator: "\n") where line.hasPrefix("pool") { print(line) }
    }
}

/// A vault whose work takes until it is told that others have gone on, or for as long as anybody would wait.
private final class PoolScene: Sendable {
    let world: World

    init() async throws {
        world = try await World()
        for number in 0..<300 { try await world.addChain(user: "user-\(number)", name: "\(number)") }
    }

    func perform(_ work: PoolTests.Work, number: Int) async throws {
        let vault = world.vault
        // A key opens a vault by one slot.
        let passphrase = KeySource.passphrase(Passphrase("CANARY-\(work)-\(number)"))
        switch work {
        case .verify: _ = try await vault.verify { _, _ in Pool.waitForSleeps() }
        case .survey: _ = try await vault.survey { _, _ in Pool.waitForSleeps() }
        case .status, .diagnosis:
            let slow = try await world.faulty()
            slow.store.beforeStatistics { Pool.waitForSleeps() }
            if work == .status { _ = try await slow.vault.status() } else { _ = try await slow.vault.diagnosis() }
        case .open:
            _ = try await vault.addKeySlot(passphrase, label: "pool")
            await
                (try await Vault.open(
                    in: world.temporary.location, unlockedBy: passphrase, options: world.temporary.options))
                .close()
        case .create:
            let place = try world.temporary.newLocation()
            await (try await Vault.create(in: place, unlockedBy: passphrase, options: world.temporary.options)).close()
        case .addKeySlot: _ = try await vault.addKeySlot(passphrase, label: "pool")
        case .close:
            let other = try await world.temporary.openAgain()
            let login = try await vault.logins(limit: 1).compactMap {
                if case .login(let login) = $0 { login.id } else { nil }
            }[0]
            let write = Task {
                try await other.change(login.handle) { _ in Pool.waitForSleeps() }
            }
            while !Pool.isWaiting { try await Task.sleep(for: .milliseconds(1)) }
            await other.close()
            try await write.value
        }
    }
}

/// The pool of this process, and how long a sleep takes in it.
private enum Pool {
    private static let finished = Atomic<Int>(0)
    private static let waiting = Atomic<Int>(0)

    static var isWaiting: Bool { waiting.load(ordering: .relaxed) > 0 }

    /// Blocks all threads of the pool but one, for good.
    static func leaveOneThread() {
        let others = Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))) - 1
        for _ in 0..<others {
            Task.detached {
                waiting.add(1, ordering: .relaxed)
                while true { pause() }
            }
        }
        while waiting.load(ordering: .relaxed) < others { usleep(100) }
        waiting.store(0, ordering: .relaxed)
    }

    /// Holds the thread that it is called on until three more sleeps are over, or ten seconds have passed.
    static func waitForSleeps() {
        waiting.add(1, ordering: .relaxed)
        defer { waiting.subtract(1, ordering: .relaxed) }
        let end = finished.load(ordering: .relaxed) + 3
        for _ in 0..<10_000 where finished.load(ordering: .relaxed) < end { usleep(1_000) }
    }

    static func sleep() async -> Duration {
        let start = ContinuousClock.now
        try? await Task.sleep(for: .milliseconds(5))
        finished.add(1, ordering: .relaxed)
        return start.duration(to: .now)
    }

    /// One sleep after the other for as long as two pieces of the work last.
    static func sleeps(beside scene: PoolScene, _ work: PoolTests.Work) async -> [Duration] {
        let over = Over()
        return await withTaskGroup(of: [Duration].self) { group in
            for number in 0..<2 {
                group.addTask {
                    do { try await scene.perform(work, number: number) } catch {
                        Issue.record("\(work.rawValue): \(error)")
                    }
                    over.note()
                    return []
                }
            }
            group.addTask {
                var sleeps: [Duration] = []
                while over.count < 2 { sleeps.append(await sleep()) }
                return sleeps
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
    }

    private final class Over: Sendable {
        private let state = Mutex(0)

        var count: Int { state.withLock { $0 } }

        func note() { state.withLock { $0 += 1 } }
    }
}
