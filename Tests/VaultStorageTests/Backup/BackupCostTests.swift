import Foundation
import TestSupport
import Testing
import VaultCrypto

@testable import VaultSQLite
@testable import VaultStorage

/// What a backup costs, and what others notice of it: printed, so that it is seen when it grows.
@Suite(.serialized) struct BackupCostTests {
    @Test func whatOthersNoticeOfABackup() async throws {
        let count = Depth.number("TOKENVAULT_BACKUP_LOGINS", or: Depth.pick(brief: 500, nightly: 2_000, deep: 2_000))
        let sample = try VaultFixture(in: PrivateDirectory(in: PrivateDirectory.fastParent))
        try sample.create().close()
        let store = try sample.open()
        defer { store.close() }
        let made = try await withThrowingTaskGroup(of: [LoginHandle].self) { group in
            for worker in 0..<64 {
                group.addTask {
                    var logins: [LoginHandle] = []
                    for number in stride(from: worker, to: count, by: 64) {
                        logins.append(
                            try await store.insertLogin(
                                SampleVault.draft(user: "user-\(number)", number: 0, provider: nil)
                            ).handle)
                    }
                    return logins
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        let now = sample.now
        func latencies(until isOver: @escaping @Sendable (Int) -> Bool) async throws -> [Duration] {
            var all: [Duration] = []
            while !isOver(all.count) {
                let round = all.count
                let start = SuspendingClock.now
                try await store.updateLogin(made[round % made.count]) { $0.renew(marker: "\(round)", at: now) }
                all.append(start.duration(to: .now))
            }
            return all.sorted()
        }
        let quiet = try await latencies { $0 >= 500 }
        let isOver = Flag()
        let target = sample.directory.file("cost.tvbackup")
        let start = SuspendingClock.now
        async let during = latencies { _ in isOver.isSet }
        let record = try await store.backUp(BackedUpVault.plan(target)) { _, _ in }
        let took = start.duration(to: .now)
        isOver.set()
        let busy = try await during
        var info = stat()
        unsafe #expect(lstat(sample.path + "-wal", &info) == 0)
        // What it grew by is what was written meanwhile, and it begins anew afterwards.
        #expect(info.st_size < 64 << 20)
        #expect(!busy.isEmpty)
        func percentile(_ sorted: [Duration], _ part: Double) -> Duration {
            sorted[min(sorted.count - 1, Int(Double(sorted.count) * part))]
        }
        print(
            "backup of \(count) logins, \(record.byteCount >> 20) MiB: \(took); commits without: p50",
            "\(percentile(quiet, 0.5)), p99 \(percentile(quiet, 0.99)); during (\(busy.count)): p50",
            "\(percentile(busy, 0.5)), p99 \(percentile(busy, 0.99)); log \(info.st_size >> 10) KiB")
    }
}
