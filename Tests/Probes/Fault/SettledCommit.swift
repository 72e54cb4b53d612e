import CFaultVFS
import Foundation
import VaultCrypto
import VaultSQLite
import VaultStorage

/// Commits that fail at the very end, and what is answered: an acknowledged change is there and durable, a refused one is
/// there or not, and the audit trail says which.
final class SettledCommit {
    private let report: Report

    init(_ report: Report) { self.report = report }

    func run() async throws {
        Faults.register()
        fault_vfs_skip_sleep(true)
        let (image, ledger) = try await Scenario.sample()
        var settled = 0
        // Each operation of one commit, failing once and 2, 3 and 4 times in a row.
        for (operation, code) in [(FAULT_SYNC, FAULT_IOERR_FSYNC), (FAULT_WRITE, FAULT_IOERR_WRITE)] {
            for count in 1...4 {
                for first in 1...12 {
                    let name = "operation \(operation.rawValue), \(first), \(count) times"
                    let arm = { Faults.arm(operation, first: first, count: count, code: Int32(code)) }
                    settled += try await renewal(image, ledger.copy, name, arm)
                    try await intent(image, ledger.copy, name, arm)
                }
            }
        }
        say("settled commits: \(report.takeTally())")
        say("settled \(settled)")
    }

    /// Gives how many commits were settled.
    private func renewal(_ image: Image, _ ledger: Ledger, _ name: String, _ arm: () -> Void) async throws -> Int {
        let sandbox = try Sandbox(image)
        let store = try sandbox.open()
        defer { store.close() }
        let work = Work(store: store, ledger: ledger)
        try await work.renew("bob")
        let sequence = try await store.statistics().auditRows
        arm()
        var isAcknowledged = true
        do { try await work.renew("bob") } catch { isAcknowledged = false }
        let hits = Faults.disarm()
        let rows = try await store.auditEntries(after: Int64(sequence), limit: 10)
        let settled = check(rows, isAcknowledged, hits, name)
        if let fault = await work.ledger.fault(of: store) { report.fail("\(name): \(fault)") }
        try await work.renew("bob")
        if let fault = await work.ledger.fault(of: store) { report.fail("\(name), then: \(fault)") }
        if try await !store.verify({ _ in }).isClean { report.fail("\(name): verify") }
        report.count(hits == 0 ? "untouched" : isAcknowledged ? "acknowledged" : "refused")
        return settled
    }

    /// A change that adds nothing to the audit trail, by which it could be found.
    private func intent(_ image: Image, _ ledger: Ledger, _ name: String, _ arm: () -> Void) async throws {
        let sandbox = try Sandbox(image)
        let store = try sandbox.open()
        defer { store.close() }
        let work = Work(store: store, ledger: ledger)
        try await work.renew("bob")
        arm()
        var isAcknowledged = true
        do { try await work.openIntent("bob") } catch { isAcknowledged = false }
        let hits = Faults.disarm()
        let isThere = try await store.hasOpenIntents()
        if isAcknowledged, !isThere { report.fail("\(name): an intent was acknowledged and is not there") }
        report.count("intents \(hits == 0 ? "untouched" : isAcknowledged ? "acknowledged" : "refused")")
    }

    private func check(_ rows: [AuditEntry], _ isAcknowledged: Bool, _ hits: Int, _ name: String) -> Int {
        let settling = rows.filter { $0.kind == .commitSettled }
        let outcome = settling.first?.detail.first { $0.key == "outcome" }?.value
        let isThere = rows.contains { $0.kind != .commitSettled }
        if hits == 0, !isAcknowledged { report.fail("\(name): refused without a fault") }
        if isAcknowledged, !isThere { report.fail("\(name): acknowledged and not there") }
        if let outcome, (outcome == "durable") != isThere { report.fail("\(name): told as \(outcome)") }
        if !isAcknowledged, isThere, outcome == nil { report.fail("\(name): refused, there, and not told") }
        return settling.count
    }
}
