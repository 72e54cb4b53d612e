import ArgumentParser
import FoundationEssentials
import Platform
import TokenVault
import VaultAdministration
import VaultStorage

struct BackupVerifyCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Check a backup: its bytes, and with a key every cell and the audit chain.",
        discussion: """
            Without a key it checks that no byte has changed since the backup was made, and that SQLite can read each \
            page. With a key also that the vault itself made it, every cell, every manifest and the audit chain. \
            Changes nothing. The exit code is 4 if anything is not as it was written.

            --drill restores it into a temporary directory, checks the restored vault, removes it, and says how long \
            that took. Run it now and then: a backup is as good as its last restore.
            """)

    @Argument(help: .init(stringLiteral: VaultAccess.backupHelp), completion: .file())
    var backup: String

    @Flag(help: "Restore it into a temporary directory, check the result, and remove it.")
    var drill = false

    @Option(help: .init("Where --drill works, instead of the backup's directory.", valueName: "directory"))
    var scratch: String?

    @OptionGroup(title: GlobalOptions.title) var global: GlobalOptions

    func validate() throws {
        if scratch != nil, !drill { throw ValidationError("--scratch is of no use without --drill") }
    }

    func run(_ invocation: Invocation) async throws {
        let access = VaultAccess(global, invocation)
        let place = try await access.backup(backup)
        let facts = try access.explaining(place, nil) { try Vault.backup(at: place.path) }
        let progress = Progress("verifying", on: invocation.console, isQuiet: invocation.isQuiet)
        defer { progress.finish() }
        var reader = SecretReader(invocation.console)
        let source = access.namesKey || drill ? try access.keySource(&reader, isNew: false) : nil
        let options = try access.vaultOptions
        let (key, report) = try await access.explaining(place, access.keyInUse) {
            let key = try await source?.resolved()
            return (
                key,
                try await Vault.verifyBackup(at: place.path, unlockedBy: key, options: options) {
                    progress.update(done: $0, total: $1)
                }
            )
        }
        var outcome: DrillOutcome?
        if drill, let key, report?.isClean != false {
            outcome = try await Drill(place.path, key, try access.vaultOptions).run(in: scratch)
        }
        progress.finish()
        try emit(facts, report, outcome, invocation)
        if report?.isClean == false || outcome?.report.isClean == false {
            invocation.advise("the same damage in the vault: vaultctl damage list; other backups: vaultctl backup list")
            throw ExitRequest(status: .damaged)
        }
    }

    private func emit(
        _ facts: BackupView, _ report: VerificationReport?, _ drill: DrillOutcome?, _ invocation: Invocation
    ) throws {
        let isWhole = report?.isClean ?? true
        let depth = report == nil ? "bytes" : "cells"
        var record =
            BackupRecords.record(facts) + [
                .data("isClean", isWhole), .data("checked", depth),
                .data("findings", report?.findings.map(VerificationView.record) ?? []),
                .line(
                    "result",
                    report.map { $0.isClean ? "every cell and the audit chain are as they were written" : "damaged" }
                        ?? "no byte has changed; give a key to check every cell"),
            ]
        if let drill {
            record += [
                Field("drillIsClean", drill.report.isClean).label("drill")
                    .words(drill.report.isClean ? "restored, and every cell opened" : "the restored vault is damaged"),
                Field("restoreMilliseconds", Int(drill.restore / .milliseconds(1))).label("a restore takes")
                    .words(Instant.duration(drill.restore / .seconds(1))),
            ]
        }
        let table = report.map { $0.isClean ? "" : VerificationView.text($0, invocation) } ?? ""
        try invocation.emit(record, text: table + invocation.text(record))
    }
}

/// The outcome of a drill.
struct DrillOutcome {
    let report: VerificationReport
    let restore: Duration
}

/// Restores a backup into a temporary directory, and removes it again.
private struct Drill {
    private let backup: String
    private let key: KeySource
    private let options: VaultOptions

    init(_ backup: String, _ key: KeySource, _ options: VaultOptions) {
        (self.backup, self.key, self.options) = (backup, key, options.withoutWitness)
    }

    func run(in scratch: String?) async throws -> DrillOutcome {
        let directory = try Self.makeDirectory(in: scratch ?? PathName.directory(of: backup))
        defer { Self.remove(directory) }
        let path = directory + "/drill.vault"
        let start = ContinuousClock.now
        _ = try await Vault.restore(backup, to: path, unlockedBy: key, options: options)
        let restore = ContinuousClock.now - start
        let vault = try await Vault.open(at: path, unlockedBy: key, options: options)
        let report: Result<VerificationReport, any Error>
        do { report = .success(try await vault.verify()) } catch { report = .failure(error) }
        await vault.close()
        return DrillOutcome(report: try report.get(), restore: restore)
    }

    /// With mode 0700 and a unique name.
    private static func makeDirectory(in parent: String) throws -> String {
        do throws(SystemError) {
            return try Directory.makeTemporary(in: parent, named: ".backup-drill-")
        } catch {
            throw Failure(
                .machine, "no temporary directory can be made in \(Printable.path(parent)): \(error.text)",
                hints: ["name one with --scratch DIRECTORY"])
        }
    }

    private static func remove(_ directory: String) {
        for suffix in ["", "-wal", "-shm", "-journal", ".lock"] {
            NamedFile(directory + "/drill.vault" + suffix).discard()
        }
        NamedFile(directory + "/drill.vault.spool").discardDirectory()
        NamedFile(directory).discardDirectory()
    }
}
