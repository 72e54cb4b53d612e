import ArgumentParser
import Platform
import TokenVault
import VaultAdministration
import VaultStorage

struct BackupRestoreCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Make a new vault from a backup. Its logins are held.",
        discussion: """
            The vault is made at TARGET, which must not exist yet; the key is one that opened the vault when the \
            backup was made. To replace a lost vault with it, stop all services, move the old files away, and \
            restore to the old path.

            Refresh tokens in the backup may have been spent since. So every login is held: its access token is served \
            while it lasts, and no refresh token is sent until `vaultctl restore accept`. Users who were erased or \
            disabled since are back: erase or disable them again before services use the vault.

            With --evidence and the witness log, only logins whose refresh tokens may have been sent since are held. Name \
            it only if every process that has used the vault since the backup has written it; if it was moved away \
            meanwhile, name all its parts.
            """)

    @Argument(help: .init(stringLiteral: VaultAccess.backupHelp), completion: .file())
    var backup: String

    @Argument(help: "The path of the new vault.", completion: .file())
    var target: String

    @Option(
        help: .init(
            "A witness log, or an export of the audit log: what happened since the backup. Can be given more than once.",
            valueName: "path"),
        completion: .file())
    var evidence: [String] = []

    @Flag(help: "Check the backup and the key, and make nothing.")
    var dryRun = false

    @OptionGroup(title: GlobalOptions.title) var global: GlobalOptions

    func run(_ invocation: Invocation) async throws {
        let access = VaultAccess(global, invocation)
        try access.requirePath(target)
        var reader = SecretReader(invocation.console)
        try refuseSwapped()
        try VaultAccess.refuseTarget(target)
        let place = try await access.backup(backup)
        let facts = try access.explaining(place, access.keyInUse) { try Vault.backup(at: place.path) }
        let key = try access.keySource(&reader, isNew: false)
        for path in evidence {
            let advice = "check --evidence; without it, all logins are held"
            if let problem = PathProblem("evidence", at: path, from: "--evidence", advice: advice) {
                throw Failure(problem.isMissing ? .notFound : .machine, problem.message, hints: problem.hints)
            }
            try InputFile.refuseOther(
                at: path, from: "--evidence", hint: "evidence is read twice: save it in a file first")
        }
        if dryRun { return try await plan(facts, place, key, access, invocation) }
        let progress = Progress("restoring", on: invocation.console, isQuiet: invocation.isQuiet)
        defer { progress.finish() }
        let options = try access.vaultOptions
        // The backup has been read: any path problem is the target's.
        let free = NamedPlace(path: target, origin: "TARGET")
        let report = try await access.explaining(place, access.keyInUse, or: free) {
            try await Vault.restore(
                place.path, to: target, unlockedBy: key, options: options, evidence: evidence
            ) {
                progress.update(done: $0, total: $1)
            }
        }
        progress.finish()
        try emit(report, invocation)
        guard options.witness != nil else { return }
        invocation.hint("if this vault takes the place of the old one: vaultctl witness accept --vault \(target)")
    }

    /// The target comes last, and does not exist yet.
    private func refuseSwapped() throws(Failure) {
        guard FileKind(target) == .backup, FileKind(backup) != .backup else { return }
        throw .usage(
            "the backup and the target are swapped: \(Printable.path(target)) is a backup",
            hint: "use: vaultctl backup restore \(Printable.path(target)) \(Printable.path(backup))")
    }

    private func plan(
        _ facts: BackupView, _ place: NamedPlace, _ key: KeySource, _ access: VaultAccess, _ invocation: Invocation
    ) async throws {
        let options = try access.vaultOptions
        guard !NamedFile(target).exists else {
            throw Failure(
                .usage, code: "vaultExists", "there is already a file at \(Printable.path(target))",
                hints: [
                    "restore to a new path; nothing is overwritten. An interrupted restore leaves a vault only if it was "
                        + "complete: if it was this one, go on with it"
                ])
        }
        let report = try await access.explaining(place, access.keyInUse) {
            try await Vault.verifyBackup(at: place.path, unlockedBy: key, options: options, evidence: evidence)
        }
        try invocation.emit(
            BackupRecords.record(facts) + [.data("isDryRun", true), .data("isClean", report?.isClean ?? true)])
        if report?.isClean == false { throw ExitRequest(status: .damaged) }
        invocation.note("nothing was restored; the backup and the key are good")
    }

    private func emit(_ report: RestoreReport, _ invocation: Invocation) throws {
        let record: OutputRecord =
            [
                Field("vault", report.path), Field("backup", report.backup.id.description),
                Field("madeAt", report.backup.madeAt).label("state of"),
                Field("incarnation", Int(clamping: report.incarnation)),
                Field("droppedLogIns", report.droppedLogIns).label("pending log-ins dropped"),
                Field("droppedRenewals", report.droppedRenewals).label("open renewals dropped"),
            ] + BackupRecords.record(report.knowledge, since: report.backup) + [
                .data("providers", report.providers.map(BackupRecords.record))
            ]
        let table = Table(BackupRecords.heldHeadings, report.providers.map(BackupRecords.record))
        try invocation.emit(record, text: invocation.text(record) + "\n" + invocation.text(table))
        // They get tokens at once.
        invocation.warn("users who were erased or disabled since the backup are back: erase or disable them again")
        invocation.hint("see which logins are held: vaultctl restore status --vault \(Printable.path(target))")
        guard report.providers.contains(where: { $0.held > 0 }) else { return }
        invocation.hint("look at what would be accepted: vaultctl restore accept --provider NAME --dry-run")
    }
}
