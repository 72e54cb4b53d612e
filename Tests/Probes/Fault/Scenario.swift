import CSQLite
import Foundation
import VaultCrypto
import VaultSQLite
import VaultStorage

/// One run of a scenario: its vault, and what it left behind.
final class ScenarioRun {
    let sandbox: Sandbox
    let ledger: Ledger
    var store: SQLiteVaultStore?
    /// Another one that has the vault open.
    var company: SQLiteVaultStore?

    init(_ sandbox: Sandbox, _ ledger: Ledger) {
        self.sandbox = sandbox
        self.ledger = ledger
    }

    func work() throws(StoreError) -> Work {
        guard let store else { throw StoreError(.closed, "there is no store") }
        return Work(store: store, ledger: ledger)
    }
}

/// Something that is done to a vault while its disk fails.
struct Scenario {
    let name: String
    let image: Image?
    let ledger: Ledger
    /// While the disk still works.
    var prepare: (ScenarioRun) async throws -> Void = { run in run.store = try run.sandbox.open() }
    let run: (ScenarioRun) async throws -> Void
    /// Says what is wrong now that the disk works again, if anything is.
    var aftermath: (ScenarioRun, StoreError?) async -> String? = Scenario.goesOnAndReopens

    static let users = ["alice", "bob"]

    /// The store goes on with its work as if nothing had happened, and so does the next one.
    static func goesOnAndReopens(_ run: ScenarioRun, _ outcome: StoreError?) async -> String? {
        if let work = try? run.work() {
            do {
                if run.ledger.users["bob"]?.acknowledged == nil { try await insertUnlessThere("bob", work) }
                for _ in 0..<2 { try await work.renew("bob") }
            } catch {
                if case .closed? = (error as? StoreError)?.code {} else { return "the store did not go on: \(error)" }
            }
            if let fault = await run.ledger.fault(of: work.store) { return "before reopening: \(fault)" }
            work.store.close()
        }
        run.store = nil
        return await reopens(run, outcome)
    }

    /// An insertion that failed may have happened nevertheless.
    private static func insertUnlessThere(_ user: String, _ work: Work) async throws {
        do throws(StoreError) {
            work.ledger.acknowledge(user, try await work.store.session(.user(user)).position.generation)
        } catch {
            guard case .notFound = error.code else { throw error }
            try await work.insert(user)
        }
    }

    static func reopens(_ run: ScenarioRun, _ outcome: StoreError?) async -> String? {
        do {
            let store = try run.sandbox.open()
            defer { store.close() }
            if let fault = await run.ledger.fault(of: store) { return "after reopening: \(fault)" }
            run.ledger.forgetAttempts()
            let findings = try await store.verify().findings
            if let finding = findings.first { return "verify: \(findings.count) findings, \(finding)" }
            try await Work(store: store, ledger: run.ledger).renew("bob")
            return nil
        } catch {
            return "reopening: \(error)"
        }
    }
}
