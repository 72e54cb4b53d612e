import CFaultVFS
import Foundation
import TestSupport
import VaultSQLite
import VaultStorage

/// What is left of a vault when the power fails: everything that was synced, and of the rest whatever the disk had got
/// round to, sector by sector and in any order.
///
/// One life of a vault is recorded, write by write. Then it is cut at many points; of each, a possible state of the
/// files is laid out and opened.
final class PowerLoss {
    private let options: Options
    private let report: Report
    private var ledger = Ledger()
    /// What was acknowledged when.
    private var acknowledged: [[String: Ledger.Entry]] = []

    init(_ options: Options, _ report: Report) {
        self.options = options
        self.report = report
    }

    func run() async throws {
        Faults.register()
        fault_vfs_skip_sleep(true)
        let cases = options.integer("cases", or: 200)
        var lost = 0
        if let failures = options.text("failures").flatMap({ Int($0) }) {
            // In each life another sync fails.
            for failing in 1...failures { lost += try await life(cuts: cases / failures, failing: failing) }
        } else {
            lost = try await life(cuts: cases, failing: nil)
        }
        let mode = isNormal ? "NORMAL" : "FULL"
        say(
            "power loss, synchronous = \(mode), \(options.text("failures") ?? "no") failing syncs"
                + " (\(options.integer("length", or: 1)) in a row\(isPinned ? ", snapshots held" : "")): "
                + "\(done) cuts in lives of \(records) writes and syncs with \(acknowledged.count) acknowledged changes (seed \(seed)): "
                + report.takeTally())
        say("cases \(done)")
        say("lost \(lost)")
    }

    private var isNormal: Bool { options.integer("normal", or: 0) != 0 }
    private var isPinned: Bool { options.integer("pinned", or: 0) != 0 }
    private var seed: Int { options.integer("seed", or: 1) }
    private var done = 0
    private var records = 0

    /// Gives how many of the cuts lost something.
    private func life(cuts count: Int, failing: Int?) async throws -> Int {
        ledger = Ledger()
        acknowledged = []
        fault_vfs_clear_record()
        let sandbox = try Sandbox()
        try await makeVault(sandbox)
        let image = Image(of: sandbox)
        fault_vfs_skip_commit_syncs(isNormal)
        fault_vfs_record(true)
        if let failing {
            Faults.arm(
                FAULT_SYNC, first: failing, count: options.integer("length", or: 1), code: Int32(FAULT_IOERR_FSYNC))
        }
        try await live(sandbox, mayFail: failing != nil)
        if Faults.disarm() == 0, failing != nil { report.count("lives without a failure") }
        fault_vfs_record(false)
        fault_vfs_skip_commit_syncs(false)

        records = Int(fault_vfs_record_count())
        var generator = SeededGenerator(seed: UInt64(seed + (failing ?? 0) * 1000))
        var disk = Disk(image)
        var next = 0
        var lost = 0
        for point in cuts(count, &generator) {
            while next < point {
                unsafe disk.apply(fault_vfs_record_at(UInt64(next)))
                next += 1
            }
            done += 1
            guard let loss = await open(disk.remains(&generator), at: disk.mark) else { continue }
            lost += 1
            // With `normal` losses are what is looked for; the caller judges.
            if !isNormal { report.fail("sync \(failing ?? 0) failed, cut at \(point): \(loss)") }
        }
        return lost
    }

    private func makeVault(_ sandbox: Sandbox) async throws {
        let store = try sandbox.create()
        for user in Scenario.users { try await Work(store: store, ledger: ledger).insert(user) }
        store.close()
        note()
    }

    /// Alone and several at once, over three checkpoints.
    private func live(_ sandbox: Sandbox, mayFail: Bool) async throws {
        for round in 0..<4 {
            guard let store = try attempt(mayFail, { try sandbox.open() }) else { continue }
            // Somebody else's snapshot, from before everything that this store writes.
            let stranger = isPinned ? try RawConnection(sandbox.path) : nil
            try stranger?.execute("BEGIN; SELECT count(*) FROM login")
            let work = Work(store: store, ledger: ledger)
            for user in Scenario.users {
                try await step(mayFail) { try await work.openIntent(user) }
                try await step(mayFail) { try await work.renew(user) }
            }
            try await step(mayFail) { try await work.insert("single-\(round)") }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<4 {
                    group.addTask {
                        do { try await work.insert("group-\(round)-\(number)") } catch  where mayFail {}
                    }
                }
                while try await group.next() != nil { note() }
            }
            try await step(mayFail) {
                try await work.insertBatches((0..<5).map { ["first-\(round)-\($0)", "second-\(round)-\($0)"] }, note)
            }
            if round > 1 { _ = await store.removeRemnants() }
            for _ in 0..<5 { try await step(mayFail) { try await work.renew("alice") } }
            if round % 2 == 0 { try stranger?.execute("COMMIT") }
            // In every other round somebody has the vault open, so that the last store cannot move the WAL into the database
            // file, and leaves it to the next one's recovery, with whatever stands in it.
            let company = round % 2 == 1 ? try attempt(mayFail) { try RawConnection(sandbox.path) } : nil
            _ = try attempt(mayFail) { try company?.integer("SELECT count(*) FROM login") }
            store.close()
            withExtendedLifetime(company) {}
        }
    }

    private func step(_ mayFail: Bool, _ body: () async throws -> Void) async throws {
        do {
            try await body()
            note()
        } catch  where mayFail {}
    }

    private func attempt<R>(_ mayFail: Bool, _ body: () throws -> R) throws -> R? {
        do { return try body() } catch  where mayFail { return nil }
    }

    private func note() {
        fault_vfs_mark(Int64(acknowledged.count))
        acknowledged.append(ledger.users.filter { $0.value.acknowledged != nil })
    }

    /// Half of them just before something is synced, where most is at stake.
    private func cuts(_ count: Int, _ generator: inout SeededGenerator) -> [Int] {
        let records = Int(fault_vfs_record_count())
        let syncs = (0..<records).filter {
            unsafe fault_vfs_record_at(UInt64($0)).operation == FAULT_SYNC.rawValue
        }
        return (0..<count).map { number in
            number % 2 == 0 ? syncs.randomElement(using: &generator) ?? 0 : .random(in: 0...records, using: &generator)
        }.sorted()
    }

    /// What is wrong with a vault on such a disk.
    private func open(_ image: Image, at mark: Int?) async -> String? {
        var expected = ledger.users.mapValues { Ledger.Entry(acknowledged: nil, attempted: $0.attempted) }
        for (user, entry) in mark.map({ acknowledged[$0] }) ?? acknowledged[0] {
            expected[user]?.acknowledged = entry.acknowledged
        }
        do {
            let sandbox = try Sandbox(image)
            let run = ScenarioRun(sandbox, Ledger(expected))
            let problem = await Scenario.reopens(run, nil)
            report.count(problem == nil ? "whole" : "not whole")
            return problem
        } catch {
            return "\(error)"
        }
    }
}
