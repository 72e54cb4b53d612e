import CFaultVFS
import Foundation
import TestSupport
import VaultSQLite
import VaultStorage

/// A process dies at the first thing that SQLite asks of a file, then at the second, and so on until it has nothing left
/// to do: also while it holds locks, and in the middle of a change of the shared memory.
///
/// Each once while another process has the vault open, which must go on at once, and once with nobody there.
final class KillSweep {
    private let options: Options
    private let report: Report

    init(_ options: Options, _ report: Report) {
        self.options = options
        self.report = report
    }

    func run() async throws {
        let (image, ledger) = try await Scenario.sample()
        let step = max(1, options.integer("step", or: 1))
        var kills = 0
        var number = 0
        for task in Victim.tasks {
            let before = kills
            for hasSurvivor in [true, false] {
                // Each begins at another place.
                var operation = 1 + number % step
                number += 1
                while try await attempt(task, operation, hasSurvivor, image, ledger.copy) {
                    kills += 1
                    operation += step
                }
            }
            say("kill \(task): \(kills - before) kills, \(report.takeTally())")
        }
        say("kills \(kills)")
    }

    /// Gives whether the process died.
    private func attempt(
        _ task: String, _ operation: Int, _ hasSurvivor: Bool, _ image: Image, _ ledger: Ledger
    ) async throws -> Bool {
        let name = "\(task), killed at operation \(operation)\(hasSurvivor ? " beside another" : "")"
        let sandbox = try Sandbox(image)
        let run = ScenarioRun(sandbox, ledger)
        if hasSurvivor {
            run.store = try sandbox.open()
            try await run.work().renew("bob")
        }
        let victim = try Victim(task, operation, sandbox)
        for user in ["alice", "carol"] { ledger.attempt(user, (ledger.users[user]?.acknowledged ?? 0) + 1) }
        for (user, generation) in victim.acknowledged { ledger.confirm(user, generation) }
        report.count(
            victim.acknowledged.isEmpty ? "before anything was acknowledged" : "after something was acknowledged")
        if !victim.isKilled, victim.status != 0 { report.fail("\(name): status \(victim.status)") }
        if let store = run.store, let owner = victim.owner, store.isOwnerAlive(owner) {
            report.fail("\(name): it is still taken for alive")
        }
        if let problem = await Scenario.goesOnAndReopens(run, nil) { report.fail("\(name): \(problem)") }
        if task == "rotation", let problem = await rotates(sandbox) { report.fail("\(name): \(problem)") }
        if task == "index-key", let problem = await reindexes(sandbox) { report.fail("\(name): \(problem)") }
        if task == "audit-key", let problem = await replacesAuditKey(sandbox) { report.fail("\(name): \(problem)") }
        return victim.isKilled
    }
}

extension KillSweep {
    /// What one process has begun, another one completes.
    private func rotates(_ sandbox: Sandbox) async -> String? {
        do {
            let store = try sandbox.open()
            defer { store.close() }
            let rotation = try await store.rotateRootKey(pause: { throw StoreError.closed }) { _ in }
            let rest = try await store.rootRotation()
            guard rotation.obstacles.isEmpty, rest.retiring.isEmpty else { return "the rotation is not complete" }
            let findings = try await store.verify().findings
            return findings.isEmpty ? nil : "after the rotation: \(findings[0])"
        } catch {
            return "rotating: \(error)"
        }
    }

    private func reindexes(_ sandbox: Sandbox) async -> String? {
        do {
            let store = try sandbox.open()
            defer { store.close() }
            guard try await store.replaceIndexKey({ _, _ in }).isComplete else { return "rows kept their index" }
            for user in ["alice", "bob"] { _ = try await store.user(user) }
            let findings = try await store.verify().findings
            return findings.isEmpty ? nil : "after the replacement: \(findings[0])"
        } catch {
            return "replacing the index key: \(error)"
        }
    }
}

extension KillSweep {
    /// The trail is whole under whichever keys it has, and can get another one, and be pruned.
    private func replacesAuditKey(_ sandbox: Sandbox) async -> String? {
        do {
            let store = try sandbox.open()
            defer { store.close() }
            let before = try await store.verify().findings
            guard before.isEmpty else { return "after the kill: \(before[0])" }
            try await store.replaceAuditKey()
            _ = try await store.pruneTrail(TrailLimits(before: nil, keepingLast: 1))
            let findings = try await store.verify().findings
            return findings.isEmpty ? nil : "after the replacement: \(findings[0])"
        } catch {
            return "replacing the audit key: \(error)"
        }
    }
}

/// A process that does one thing to a vault and dies at it.
struct Victim {
    static let tasks = [
        "insertion", "intent", "renewal", "pruning", "checkpoint", "beginning-anew", "rotation", "index-key",
        "audit-key",
    ]

    let acknowledged: [String: Int64]
    let owner: Int64?
    let isKilled: Bool
    let status: Int32

    init(_ task: String, _ operation: Int, _ sandbox: Sandbox) throws {
        let run = try ProgramRun(
            blocking: BuiltProgram.current(),
            ["victim", "directory=\(sandbox.directory)", "task=\(task)", "operation=\(operation)"])
        isKilled = run.exitCode == 128 + SIGKILL
        status = run.exitCode
        var acknowledged: [String: Int64] = [:]
        var owner: Int64?
        for line in run.lines {
            let words = line.split(separator: " ")
            if words.count == 3 { acknowledged[String(words[1])] = Int64(words[2]) }
            if words.count == 2 { owner = Int64(words[1]) }
        }
        self.acknowledged = acknowledged
        self.owner = owner
    }

    /// In its process.
    static func die(_ options: Options) async throws {
        guard let directory = options.text("directory") else { exit(64) }
        Faults.register()
        let ledger = Ledger()
        let store = try Sandbox(existing: directory).open()
        say("owner \(store.owner)")
        let work = Work(store: store, ledger: ledger)
        let task = options.text("task")
        if task == "renewal" { try await work.openIntent("alice") }
        if task == "checkpoint" || task == "beginning-anew" { try await work.openIntent("alice") }
        Faults.arm(
            operations: FAULT_EVERYTHING.rawValue, files: FAULT_ANY_FILE.rawValue,
            first: options.integer("operation", or: 1), count: 1, action: FAULT_KILL_BEFORE, code: 0)
        switch task {
        case "insertion": try await work.insert("carol")
        case "intent": try await work.openIntent("alice")
        case "renewal": try await work.renew("alice")
        case "pruning": _ = try await store.pruneTrail(TrailLimits(before: nil, keepingLast: 1))
        case "beginning-anew": _ = await store.removeRemnants()
        case "rotation": _ = try await store.rotateRootKey(pause: { throw StoreError.closed }) { _ in }
        case "index-key": _ = try await store.replaceIndexKey { _, _ in }
        case "audit-key": try await store.replaceAuditKey()
        default: break
        }
        for (user, entry) in ledger.users { say("stored \(user) \(entry.acknowledged ?? 0)") }
        if task == "checkpoint" { store.close() } else { Faults.disarm() }
        exit(0)
    }
}
