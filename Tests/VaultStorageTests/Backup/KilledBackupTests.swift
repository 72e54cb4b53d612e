import Foundation
import TestSupport
import Testing
import VaultCrypto

@testable import VaultSQLite
@testable import VaultStorage

/// Processes that are killed right after each step: nothing, or a whole backup or vault.
@Suite struct KilledBackupTests {
    private static func run(_ arguments: [String]) async throws -> Int32 {
        try await ProgramRun(BuiltProgram.url("storage-probe"), arguments).exitCode
    }

    @Test(arguments: BackupStep.allCases) func aKilledBackupIsWholeOrNone(_ step: BackupStep) async throws {
        let vault = try await BackedUpVault()
        let target = vault.sample.directory.file("killed.tvbackup")
        let code = try await Self.run(["backup", vault.sample.path, vault.sample.keyFile, target, step.rawValue])
        #expect(code == 128 + SIGKILL)
        let isThere = FileManager.default.fileExists(atPath: target)
        #expect(isThere == (step == .named))
        if isThere { #expect(try vault.verify(target)?.findings == []) }
        let store = try vault.sample.open()
        defer { store.close() }
        #expect(try await store.verify().findings == [])
        let known = try await store.backups().compactMap(\.record).first { $0.path == target }
        // Known before it has its name: none is ever missed when a user is erased.
        #expect((known != nil) == (step == .noted || step == .named))
        #expect(known?.finishedAt == nil)
        // An hour later the next backup settles what became of it, and removes what was left.
        vault.sample.advance(by: .seconds(2 * 3_600))
        let next = isThere ? vault.sample.directory.file("next.tvbackup") : target
        _ = try await store.backUp(BackedUpVault.plan(next)) { _, _ in }
        #expect(try vault.verify(next)?.findings == [])
        #expect(try !vault.names().contains { $0.hasSuffix(".partial") })
        let settled = try await store.backups().compactMap(\.record).filter { $0.path == target }
        #expect(settled.count == 1 && settled.allSatisfy { $0.finishedAt != nil })
        #expect(try await store.verify().findings == [])
    }

    @Test(arguments: BackupStep.allCases.filter { $0 != .noted })
    func aKilledRestoreIsWholeOrNone(_ step: BackupStep) async throws {
        let vault = try await BackedUpVault()
        let target = vault.sample.directory.file("restored.vault")
        let code = try await Self.run(["restore", target, vault.sample.keyFile, vault.backup, step.rawValue])
        #expect(code == 128 + SIGKILL)
        let isThere = FileManager.default.fileExists(atPath: target)
        #expect(isThere == (step == .named))
        if !isThere { try vault.restore() }
        let store = try vault.open()
        defer { store.close() }
        #expect(try await store.verify().findings == [])
        #expect(store.context.incarnation == 2)
        #expect(try !vault.names().contains { $0.hasSuffix(".partial") })
    }
}
