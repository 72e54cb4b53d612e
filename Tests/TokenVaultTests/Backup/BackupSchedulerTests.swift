import EngineSupport
import Foundation
import Synchronization
import TestSupport
import Testing
import TokenVault
import TokenVaultTesting
import VaultAdministration
import VaultStorage

@Suite(.aboutFiles("a vault on a server is backed up with its database"))
struct BackupSchedulerTests {
    private final class Events: Sendable {
        private let words = Mutex<[String]>([])
        var all: [String] { words.withLock { $0 } }

        func note(_ event: BackupSchedule.Event) {
            let word =
                switch event {
                case .made: "made"
                case .removed: "removed"
                case .failed(let error): "failed \((error as? VaultError)?.code.name ?? "\(error)")"
                }
            words.withLock { $0.append(word) }
        }
    }

    private static func scheduler(
        _ world: World, _ directory: String, _ events: Events, keep: BackupRetention? = nil
    ) -> BackupScheduler {
        BackupScheduler(
            world.vault,
            options: BackupSchedule(
                every: .seconds(3_600), directory: directory, keep: keep, allowsSameDevice: true
            ) { events.note($0) })
    }

    @Test func oneIsMadeWhenItIsDueAndOldOnesGo() async throws {
        let world = try await World()
        let directory = try PrivateDirectory()
        let events = Events()
        let scheduler = Self.scheduler(world, directory.path, events, keep: BackupRetention(hours: 2))
        for _ in 0..<4 {
            #expect(try await scheduler.runOnce() != nil)
            #expect(try await scheduler.runOnce() == nil)
            // Another process looks at the same vault.
            #expect(try await Self.scheduler(world, directory.path, Events()).runOnce() == nil)
            world.time.advance(by: .seconds(3_600))
        }
        #expect(events.all == ["made", "made", "made", "removed", "made", "removed"])
        let left = try await world.vault.backups().compactMap(\.backup)
        #expect(left.count == 2)
        let files = try FileManager.default.contentsOfDirectory(atPath: directory.path)
        #expect(Set(files) == Set(left.map { String($0.path.dropFirst(directory.path.count + 1)) }))
        #expect(try await world.vault.status().lastBackupAt?.date == left.last?.madeAt)
    }

    /// What lies in the place of a backup is not removed, and what was removed by hand is forgotten.
    @Test func onlyItsOwnBackupsAreRemoved() async throws {
        let world = try await World()
        let directory = try PrivateDirectory()
        let events = Events()
        let scheduler = Self.scheduler(world, directory.path, events, keep: BackupRetention(hours: 1))
        let first = try #require(try await scheduler.runOnce())
        let elsewhere = try PrivateDirectory()
        let kept = try await world.vault.backUp(to: elsewhere.path, allowsSameDevice: true)
        try FileManager.default.removeItem(atPath: first.path)
        world.time.advance(by: .seconds(7_200))
        let second = try #require(try await scheduler.runOnce())
        #expect(try await world.vault.backups().compactMap(\.backup).map(\.id) == [kept.id, second.id])
        #expect(FileManager.default.fileExists(atPath: kept.path))
    }

    @Test func aFailureIsToldAndTriedAgain() async throws {
        let world = try await World()
        let directory = try PrivateDirectory()
        let missing = directory.file("later")
        let events = Events()
        let scheduler = Self.scheduler(world, missing + "/b.tvbackup", events)
        await #expect(throws: VaultError.self) { try await scheduler.runOnce() }
        let running = Task { try await scheduler.run() }
        while events.all.isEmpty { await Task.yield() }
        #expect(events.all.first?.hasPrefix("failed") == true)
        _ = try directory.subdirectory("later")
        while !events.all.contains("made") {
            world.time.advance(by: .seconds(60))
            await Task.yield()
        }
        running.cancel()
        try await running.value
    }
}
