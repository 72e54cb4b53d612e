import CFaultVFS
import Foundation
import TestSupport
import VaultSQLite
import VaultStorage

/// A small vault, database and WAL, of which a byte is flipped, an end cut off, or a part zeroed: one after the other,
/// everywhere.
///
/// Never may it crash or hang, give a token that is not the user's, or give one of another generation than the vault has
/// been at. What is not as before must have a name: an error that says what is wrong, or a finding of `verify`. The one
/// exception is a vault of which the end of the WAL is gone: it is whole, but as it was some commits ago.
final class Damage {
    private let options: Options
    private let report: Report
    private var cases = 0

    init(_ options: Options, _ report: Report) {
        self.options = options
        self.report = report
    }

    func run() async throws {
        Faults.register()
        // No wait is long because of damage.
        fault_vfs_skip_sleep(true)
        let stride = options.integer("stride", or: 1)
        let from = options.integer("from", or: 0)
        let to = options.integer("to", or: .max)
        let masks = (options.text("masks") ?? "64").split(separator: ",").compactMap { UInt8($0) }
        for (history, stride) in [(try await History.crashed(), stride), (try await History.closed(), stride * 4)] {
            let target = try DamagedVault(history)
            for file in DamagedVault.files where options.text("file") ?? file == file {
                let size = target.size(of: file)
                for mask in masks {
                    for offset in Swift.stride(from: from, to: min(size, to), by: stride) {
                        await attempt(target, "byte \(offset) of \(file) flipped by \(mask)", writes: offset % 8 == 0) {
                            try target.flip(offset, of: file, by: mask)
                        }
                    }
                }
                summarize("\(masks.count) × every \(stride)th of the \(size) bytes of \(history.name) \(file) flipped")
                if options.text("from") != nil { continue }
                for end in Swift.stride(from: 0, to: size, by: 512) {
                    await attempt(target, "\(file) cut after \(end)", writes: true) { try target.cut(file, at: end) }
                }
                for start in Swift.stride(from: 0, to: size, by: 512) {
                    for length in [512, 4096] where start % length == 0 {
                        await attempt(target, "\(length) at \(start) of \(file) zeroed", writes: true) {
                            try target.zero(start..<min(size, start + length), of: file)
                        }
                    }
                }
                summarize("\(history.name) \(file) cut every 512 bytes, sectors and pages zeroed")
            }
        }
        say("cases \(cases)")
    }

    private var summarized = 0

    private func summarize(_ what: String) {
        say("damage: \(what): \(cases - summarized) cases, \(report.takeTally())")
        summarized = cases
    }

    private func attempt(
        _ target: DamagedVault, _ name: String, writes: Bool, _ damage: () throws -> Void
    ) async {
        cases += 1
        let start = clock()
        do {
            try damage()
            report.count(try await target.judge(writes: writes))
            try target.repair()
        } catch {
            report.fail("\(target.history.name): \(name): \(error)")
            try? target.repair()
        }
        // Of this process, so that it does not matter how busy the machine is.
        let seconds = Double(clock() - start) / Double(CLOCKS_PER_SEC)
        if seconds > 2 { report.fail("\(target.history.name): \(name): took \(seconds) s") }
    }
}

/// A vault's files, and each state that it has been in, the latest last.
struct History {
    let name: String
    let image: Image
    let states: [[String: Int64]]

    static let users = ["alice", "bob", "carol"]

    /// As a killed process leaves it: the last commits are only in the WAL.
    static func crashed() async throws -> History {
        let (sandbox, store, states) = try await live()
        defer { store.close() }
        return History(name: "crashed", image: Image(of: sandbox), states: states)
    }

    /// The last commits are in the WAL and in the database file.
    static func closed() async throws -> History {
        let (sandbox, store, states) = try await live()
        store.close()
        return History(name: "closed", image: Image(of: sandbox), states: states)
    }

    private static func live() async throws -> (Sandbox, SQLiteVaultStore, [[String: Int64]]) {
        let sandbox = try Sandbox()
        let ledger = Ledger()
        let first = try sandbox.create()
        for user in users { try await Work(store: first, ledger: ledger).insert(user) }
        first.close()
        // The users are in the database file alone, what comes now in the WAL alone.
        try RawConnection(sandbox.path).execute("PRAGMA wal_checkpoint(TRUNCATE)")
        let store = try sandbox.open()
        let work = Work(store: store, ledger: ledger)
        var states = [ledger.users.mapValues(\.attempted)]
        for user in ["alice", "bob"] {
            try await work.openIntent(user)
            states.append(ledger.users.mapValues(\.attempted))
            try await work.renew(user)
            states.append(ledger.users.mapValues(\.attempted))
        }
        return (sandbox, store, states)
    }
}
