import CFaultVFS
import Foundation
import VaultStorage

/// What is left of a vault when the power fails: everything that was synced, and of the rest whatever the disk had got
/// round to, sector by sector and in any order.
///
/// One life of a vault is recorded, write by write. Then it is cut at many points; of each, a possible state of the
/// files is laid out and opened.
final class PowerLoss {
    private let options: Options
    private let report: Report
    private let ledger: Ledger
    /// What was acknowledged when.
    private var acknowledged: [[String: Ledger.Entry]] = []

    init(_ options: Options, _ report: Report) {
        self.options = options
        self.report = report
        ledger = Ledger()
    }

    func run() async throws {
        Faults.register()
        let sandbox = try Sandbox()
        try await makeVault(sandbox)
        let image = Image(of: sandbox)
        fault_vfs_skip_commit_syncs(options.integer("normal", or: 0) != 0)
        fault_vfs_record(true)
        try await live(sandbox)
        fault_vfs_record(false)
        fault_vfs_skip_commit_syncs(false)

        let cases = options.integer("cases", or: 200)
        let seed = UInt64(options.integer("seed", or: 1))
        var generator = SeededGenerator(seed: seed)
        let points = cuts(cases, &generator)
        var disk = Disk(image)
        var next = 0
        var lost = 0
        for (number, point) in points.enumerated() {
            while next < point {
                unsafe disk.apply(fault_vfs_record_at(UInt64(next)))
                next += 1
            }
            if let loss = await open(disk.remains(&generator), at: disk.mark) {
                lost += 1
                // With `normal` losses are what is looked for; the caller judges.
                if options.integer("normal", or: 0) == 0 { report.fail("case \(number), cut at \(point): \(loss)") }
            }
        }
        let records = Int(fault_vfs_record_count())
        say(
            "power loss, synchronous = \(options.integer("normal", or: 0) != 0 ? "NORMAL" : "FULL"): \(points.count) "
                + "cuts of \(records) writes and syncs with \(acknowledged.count) acknowledged changes (seed \(seed)): "
                + "\(report.takeTally())")
        say("cases \(points.count)")
        say("lost \(lost)")
    }

    private func makeVault(_ sandbox: Sandbox) async throws {
        let store = try sandbox.create()
        for user in Scenario.users { try await Work(store: store, ledger: ledger).insert(user) }
        store.close()
        note()
    }

    /// Alone and several at once, over three checkpoints.
    private func live(_ sandbox: Sandbox) async throws {
        for round in 0..<4 {
            let store = try sandbox.open()
            let work = Work(store: store, ledger: ledger)
            for user in Scenario.users {
                try await work.openIntent(user)
                try await work.renew(user)
                note()
            }
            try await work.insert("single-\(round)")
            note()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<4 {
                    group.addTask { try await work.insert("group-\(round)-\(number)") }
                }
                while try await group.next() != nil { note() }
            }
            for _ in 0..<5 {
                try await work.renew("alice")
                note()
            }
            store.close()
        }
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
