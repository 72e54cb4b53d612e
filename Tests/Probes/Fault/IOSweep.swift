import CFaultVFS
import CSQLite
import Foundation
import VaultStorage

/// For each scenario and each way to fail: lets the first operation fail, then the second, and so on until the scenario
/// ends without having met the fault; each once, and from then on for ever.
///
/// Afterwards the disk works again. The same store goes on; then it is opened anew, and must hold all that was
/// acknowledged, with every cell, manifest and page in order.
final class IOSweep {
    struct Failure {
        let name: String
        let operations: UInt32
        let files: UInt32
        let action: fault_action
        let code: Int32

        init(
            _ name: String, _ operations: fault_operation..., code: Int32, action: fault_action = FAULT_FAIL,
            files: fault_file_role = FAULT_ANY_FILE
        ) {
            self.name = name
            self.files = files.rawValue
            self.operations = operations.reduce(0) { $0 | $1.rawValue }
            self.action = action
            self.code = code
        }

        static var all: [Failure] {
            [
                Failure("IOERR_READ", FAULT_READ, code: Int32(FAULT_IOERR_READ)),
                // Of a database file SQLite takes it for the end, and the rest for zeros: a system never tells it of less.
                Failure(
                    "SHORT_READ", FAULT_READ, code: Int32(FAULT_IOERR_SHORT_READ), action: FAULT_FAIL_HALFWAY,
                    files: FAULT_WAL),
                Failure("IOERR_WRITE", FAULT_WRITE, code: Int32(FAULT_IOERR_WRITE)),
                Failure("FULL", FAULT_WRITE, code: SQLITE_FULL, action: FAULT_FAIL_HALFWAY),
                Failure("IOERR_FSYNC", FAULT_SYNC, code: Int32(FAULT_IOERR_FSYNC)),
                Failure("IOERR_TRUNCATE", FAULT_TRUNCATE, code: Int32(FAULT_IOERR_TRUNCATE)),
                Failure("BUSY", FAULT_LOCK, FAULT_SHM_LOCK, code: SQLITE_BUSY),
                Failure("IOERR_SHMMAP", FAULT_SHM_MAP, code: Int32(FAULT_IOERR_SHMMAP)),
                Failure("IOERR_SHMLOCK", FAULT_SHM_LOCK, code: Int32(FAULT_IOERR_SHMLOCK)),
                Failure("CANTOPEN", FAULT_OPEN, code: SQLITE_CANTOPEN),
            ]
        }
    }

    private let options: Options
    private let report: Report
    private var runs = 0

    init(_ options: Options, _ report: Report) {
        self.options = options
        self.report = report
    }

    func run() async throws {
        Faults.register()
        fault_vfs_skip_sleep(true)
        let scenarios = try await Scenario.all()
        let chosen = options.text("scenario").map { $0.split(separator: ",").map(String.init) }
        // How many operations in a row fail; 0: all that follow.
        let lengths = (options.text("lengths") ?? "1,0").split(separator: ",").compactMap { Int($0) }
        let failures = options.text("failure").map { $0.split(separator: ",").map(String.init) }
        let step = max(1, options.integer("step", or: 1))
        for scenario in scenarios where chosen?.contains(scenario.name) ?? true {
            let before = runs
            let start = ContinuousClock.now
            var number = 0
            for failure in Failure.all where failures?.contains(failure.name) ?? true {
                for length in lengths {
                    // Each begins at another place, so that with all of them each operation fails.
                    try await sweep(scenario, failure, length, from: 1 + number % step, by: step)
                    number += 1
                }
            }
            let milliseconds = (ContinuousClock.now - start) / .milliseconds(1)
            say("sweep \(scenario.name): \(runs - before) runs in \(Int(milliseconds)) ms: \(report.takeTally())")
        }
        say("total \(runs)")
    }

    private func sweep(
        _ scenario: Scenario, _ failure: Failure, _ count: Int, from start: Int, by step: Int
    ) async throws {
        var first = start
        while true {
            let name =
                "\(scenario.name), \(failure.name) \(count == 0 ? "from" : "\(count) times at") operation \(first)"
            let hits = try await attempt(scenario, failure, first: first, count: count, name)
            runs += 1
            if hits == 0 { return }
            first += step
        }
    }

    private func attempt(
        _ scenario: Scenario, _ failure: Failure, first: Int, count: Int, _ name: String
    ) async throws -> Int {
        let sandbox = try Sandbox(scenario.image)
        let run = ScenarioRun(sandbox, scenario.ledger.copy)
        try await scenario.prepare(run)
        Faults.arm(
            operations: failure.operations, files: failure.files, first: first, count: count,
            action: failure.action, code: failure.code)
        var outcome: StoreError?
        do {
            try await scenario.run(run)
        } catch let error as StoreError {
            outcome = error
        } catch {
            report.fail("\(name): \(error)")
        }
        let hits = Faults.disarm()
        report.count(outcome.map { Self.word($0.code) } ?? (hits > 0 ? "unaffected" : "without fault"))
        if let outcome, Self.accuses(outcome.code) {
            report.fail("\(name): a failure of the disk is taken for \(outcome)")
        }
        if hits == 0, let outcome { report.fail("\(name): failed without a fault: \(outcome)") }
        if let problem = await scenario.aftermath(run, outcome) { report.fail("\(name): \(problem)") }
        return hits
    }

    /// Whether it says that the vault's files were changed from outside, or that they are damaged.
    private static func accuses(_ code: StoreError.Code) -> Bool {
        switch code {
        case .damaged, .quarantined, .rollbackSuspected, .notAVault, .foreignSchemaObject, .wrongKey: true
        default: false
        }
    }

    private static func word(_ code: StoreError.Code) -> String {
        switch code {
        case .io: "io"
        default: String("\(code)".prefix { $0 != "(" })
        }
    }
}
