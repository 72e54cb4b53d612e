import CFaultVFS
import Foundation
import Platform
import VaultCrypto
import VaultSQLite
import VaultStorage

/// A process that makes a key file and a vault is killed before the first call of the system by which it changes anything,
/// then before the second, and so on. Then the first thing that it asks of a file fails, the second, and so on. Each time
/// there must be a vault or nothing, and the next one must be able to make it.
final class CreationSweep {
    /// What becomes of a call of the system.
    private enum Strike {
        case kill
        case failure(Int32)

        var words: String {
            switch self {
            case .kill: "killed"
            case .failure(let error): "failing with \(error)"
            }
        }
    }

    private static let keyOnly: Set<String> = ["vault.key"]
    private let report: Report

    init(_ report: Report) { self.report = report }

    func run() async throws {
        var kills = 0
        while try await attempt(.kill, at: UInt64(kills + 1)) { kills += 1 }
        say("vault kills \(kills): \(report.takeTally())")
        var failures = 0
        for error in [EIO, ENOSPC] {
            var number: UInt64 = 1
            while try await attempt(.failure(error), at: number) { number += 1 }
            failures += Int(number) - 1
        }
        say("vault failures \(failures): \(report.takeTally())")
        say("failures \(failures)")
        var fileKills = 0
        for naming in NewFile.Naming.allCases {
            var number: UInt64 = 1
            while try attempt(number, naming) { number += 1 }
            fileKills += Int(number) - 1
        }
        say("file kills \(fileKills): \(report.takeTally())")
        say("kills \(kills + fileKills)")
    }

    // MARK: Key file and vault

    /// Gives whether the process came to that call.
    private func attempt(_ strike: Strike, at number: UInt64) async throws -> Bool {
        let sandbox = try Sandbox(Image(files: [:]))
        let isStruck = try self.strike(strike, at: number, ["directory=\(sandbox.directory)"])
        let name = "creation \(strike.words) at call \(number)"
        let left = Set(sandbox.names)
        let hasVault = left.contains("vault.db")
        report.count(hasVault ? "left a vault" : left.isEmpty ? "left nothing" : "left \(left.sorted())")
        if !hasVault, !left.isSubset(of: Self.keyOnly) { report.fail("\(name): left \(left.sorted())") }
        do {
            let store = try hasVault ? sandbox.open() : Creation.make(in: sandbox)
            defer { store.close() }
            if let finding = try await store.verify({ _ in }).findings.first { report.fail("\(name): \(finding)") }
        } catch {
            report.fail("\(name): left \(left.sorted()), then \(error)")
        }
        let foreign = sandbox.names.filter { $0.hasSuffix(".tmp") }
        if !foreign.isEmpty { report.fail("\(name): there is still \(foreign)") }
        return isStruck
    }

    private func strike(_ strike: Strike, at number: UInt64, _ options: [String]) throws -> Bool {
        let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let arguments = [program, "creator"] + options
        var pointers = unsafe arguments.map { unsafe strdup($0) } + [nil]
        defer { unsafe pointers.forEach { unsafe free($0) } }
        var end = fault_death()
        let problem =
            switch strike {
            case .kill: unsafe fault_kill_at_call(&pointers, number, &end)
            case .failure(let error): unsafe fault_fail_at_call(&pointers, number, error, &end)
            }
        if problem != 0 { report.fail("a process cannot be traced: \(problem)") }
        switch strike {
        case .kill:
            if !end.is_killed, end.status != 0 { report.fail("\(options): ended with \(end.status)") }
            return end.is_killed
        case .failure:
            // It may go on without, or say that it cannot.
            if end.status != 0, end.status != Creation.failed {
                report.fail("call \(number) of \(options) \(strike.words): ended with \(end.status)")
            }
            report.count(end.status == 0 ? "made nevertheless" : "refused")
            return end.calls >= number
        }
    }

    // MARK: One file, on file systems that cannot do everything

    private func attempt(_ number: UInt64, _ naming: NewFile.Naming) throws -> Bool {
        let sandbox = try Sandbox(Image(files: [:]))
        let path = sandbox.file("new")
        let isKilled = try strike(.kill, at: number, ["directory=\(sandbox.directory)", "naming=\(naming)"])
        let name = "\(naming) killed at call \(number)"
        let left = FileManager.default.contents(atPath: path)
        report.count("\(naming): \(left == nil ? "nothing" : left?.isEmpty == true ? "an empty file" : "a file")")
        switch left {
        case nil: break
        case Creation.content?: break
        case Data()? where naming == .reservation: break
        default: report.fail("\(name): left half a file")
        }
        do throws(SystemError) {
            try Creation.write(path, [naming])
        } catch {
            if error != .exists || left == nil { report.fail("\(name): cannot be made again: \(error)") }
        }
        if sandbox.names != ["new"] { report.fail("\(name): there is still \(sandbox.names)") }
        return isKilled
    }
}

/// What is killed.
enum Creation {
    static let content = Data(repeating: 0x61, count: 10_000)
    /// The status of a process that could not do it.
    static let failed: Int32 = 1

    /// In its process.
    static func run(_ options: Options) throws {
        guard let directory = options.text("directory") else { exit(64) }
        let sandbox = Sandbox(existing: directory)
        _ = getppid()
        if let name = options.text("naming") {
            try write(sandbox.file("new"), NewFile.Naming.allCases.filter { "\($0)" == name })
        } else {
            do { try make(in: sandbox).close() } catch { exit(failed) }
        }
        _ = getppid()
        exit(0)
    }

    /// As `vaultctl init` does: with the key file that is there, or a new one.
    static func make(in sandbox: Sandbox) throws -> SQLiteVaultStore {
        if !FileManager.default.fileExists(atPath: sandbox.keyPath) { _ = try KeyFile.create(at: sandbox.keyPath) }
        return try sandbox.create()
    }

    static func write(_ path: String, _ namings: [NewFile.Naming]) throws(SystemError) {
        let failure = unsafe content.withUnsafeBytes { bytes -> SystemError? in
            do throws(SystemError) {
                try unsafe NewFile(path, namings: namings).write(bytes)
                return nil
            } catch {
                return error
            }
        }
        if let failure { throw failure }
    }
}
