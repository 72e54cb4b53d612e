import CFaultVFS
import CSQLite
import Foundation
import TestSupport
import VaultSQLite
import VaultStorage

/// The race in which SQLite 3.7.0–3.51.2 loses acknowledged commits, step by step.
///
/// 1. Everything in the WAL is in the database file too: the next commit may begin the WAL anew.
/// 2. A checkpoint reads the WAL index's header (N frames) and is stopped there, before it asks how many of them are
///    still to be copied.
/// 3. A neighbour commits. The WAL begins anew, and nothing of it has been copied.
/// 4. The checkpoint goes on with N, copies the few new frames, and notes that N frames are copied.
/// 5. Whatever the neighbour commits now, up to the frame N, counts as copied: no reader looks for it in the WAL, no
///    checkpoint copies it, and the next restart of the WAL overwrites it.
///
/// Behind the gate nobody can commit between 2 and 4.
final class CheckpointRace {
    private let options: Options
    private let report: Report

    init(_ options: Options, _ report: Report) {
        self.options = options
        self.report = report
    }

    func run() async throws {
        Faults.register()
        let rounds = options.integer("rounds", or: 1)
        var generator = SeededGenerator(seed: UInt64(options.integer("seed", or: 1)))
        var lost = 0
        var during: Int64 = 0
        var acknowledged: Int64 = 0
        for round in 0..<rounds {
            var schedule = Schedule()
            if round > 0 { schedule.vary(&generator) }
            let outcome = try await self.round(schedule)
            lost += outcome.lost
            during += outcome.during
            acknowledged += outcome.acknowledged
        }
        let version = unsafe String(cString: sqlite3_libversion())
        say(
            "race \(isGated ? "gated" : "ungated") in \(isTwoProcesses ? "two processes" : "one process"), "
                + "SQLite \(version): \(rounds) schedules, \(acknowledged) acknowledged, \(report.takeTally())")
        say("during \(during)")
        say("lost \(lost)")
    }

    private var isGated: Bool { options.integer("gated", or: 1) != 0 }
    private var isTwoProcesses: Bool { options.integer("processes", or: 1) == 2 }

    /// How much is written at each step.
    private struct Schedule {
        var before = 20
        var during = 5
        var after = 5
        /// What comes after, so that the frames that count as copied are left behind.
        var later = 60

        mutating func vary(_ generator: inout SeededGenerator) {
            before = .random(in: 10...30, using: &generator)
            during = .random(in: 1...3, using: &generator)
            after = .random(in: 1...6, using: &generator)
            later = .random(in: 40...80, using: &generator)
        }
    }

    private struct Outcome {
        var lost = 0
        /// Acknowledged while the checkpoint stood still.
        var during: Int64 = 0
        var acknowledged: Int64 = 0
    }

    private func round(_ schedule: Schedule) async throws -> Outcome {
        let (image, ledger) = try await Scenario.sample()
        let sandbox = try Sandbox(image)
        let store = try sandbox.open()
        let raw = try RawConnection(sandbox.path)
        let own = Work(store: store, ledger: ledger)
        try await own.renew("bob")
        // The connection that checkpoints is there, and will find a WAL that has changed since: only then does it pass the
        // place where it is stopped.
        if isGated, await store.removeRemnants() != .gone { report.fail("the WAL could not begin anew") }
        _ = try raw.integer("SELECT count(*) FROM login")
        let neighbour: any Neighbour =
            if isTwoProcesses { try ProcessNeighbour(sandbox, ledger) } else { try StoreNeighbour(sandbox, ledger) }

        _ = try await neighbour.renew("alice", schedule.before)
        // While nobody writes: the WAL is complete, and not begun anew as the gate would have it.
        let other = try RawConnection(sandbox.path)
        _ = try other.integer("SELECT count(*) FROM login")
        _ = other.checkpointUngated()

        Faults.arm(FAULT_UNFETCH, files: FAULT_DATABASE, first: 1, count: 1, action: FAULT_PAUSE)
        let isGated = isGated
        let checkpoint = Background {
            if isGated { store.close() } else { _ = raw.checkpointUngated() }
        }
        guard fault_vfs_wait_for_pause(10_000) else {
            report.fail("the checkpoint did not come to the place between reading the WAL index and using it")
            Faults.disarm()
            checkpoint.wait()
            return Outcome()
        }
        // Behind the gate this waits, so that it cannot be waited for; without it, it comes on the slowest machine.
        let before = ledger.acknowledgements
        let writing = Task { try await neighbour.insert(0..<schedule.during) }
        for _ in 0..<(isGated ? 30 : 6_000) where ledger.acknowledgements < before + Int64(schedule.during) {
            try await Task.sleep(for: .milliseconds(10))
        }
        let during = ledger.acknowledgements - before
        report.count("of them while the checkpoint stood still", Int(during))
        fault_vfs_resume()
        checkpoint.wait()
        Faults.disarm()
        _ = try await writing.value

        _ = try await neighbour.insert(100..<(100 + schedule.after))
        await report.count("not seen by a new reader", missing(sandbox, ledger))
        _ = try await neighbour.renew("alice", schedule.later)
        try? await neighbour.reopen()
        _ = try? await neighbour.renew("alice", 2)
        await neighbour.end()
        store.close()
        let lost = await missing(sandbox, ledger)
        report.count("lost in the end", lost)
        if isGated, let problem = await Scenario.reopens(ScenarioRun(sandbox, ledger), nil) { report.fail(problem) }
        return Outcome(lost: lost, during: during, acknowledged: ledger.acknowledgements)
    }

    /// How many users are not at the generation that was acknowledged; all of them if the vault does not even open.
    private func missing(_ sandbox: Sandbox, _ ledger: Ledger) async -> Int {
        guard let store = try? sandbox.open() else { return ledger.users.count }
        defer { store.close() }
        var missing = 0
        for (user, entry) in ledger.users where await Ledger([user: entry]).fault(of: store) != nil { missing += 1 }
        return missing
    }
}

/// A thread that may be stopped where no task may.
final class Background: Sendable {
    private let end = DispatchSemaphore(value: 0)

    init(_ body: @escaping @Sendable () -> Void) {
        let end = end
        Thread.detachNewThread {
            body()
            end.signal()
        }
    }

    func wait() { end.wait() }
}
