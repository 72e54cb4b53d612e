import ArgumentParser
import Platform
import TokenVault
import VaultAdministration

struct UserEraseCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "erase",
        abstract: "End all of a user's logins, and destroy what the vault knows about the user.",
        discussion: """
            Also ends the log-ins that the user has begun. Destroys the user's key, so nothing about the user can be \
            read from this file again. A backup holds that key, too: with the backup and a key that opened the vault \
            when it was made, the user can still be read. \
            --dry-run names the backups that hold the user, and so does the command itself: destroy them.

            --certificate writes a new file that proves the erasure later, without naming the user: their handle in the \
            audit log, its row about the erasure, and the head of the log, as vaultctl audit verify shows it.

            A source from which logins of the user were imported may still have the user, and its next reading adds them \
            again: end them there first.

            Rows that cannot be opened are discarded; exit code 3 then means that grants were left at the provider. It also \
            means that a provider has not confirmed a revocation, this one or an earlier one of the user.
            """)

    @Flag(help: "Say what would be erased, and which backups hold the user; change nothing.")
    var dryRun = false

    @Option(help: .init("Write a certificate of the erasure to this new file.", valueName: "file"), completion: .file())
    var certificate: String?

    @OptionGroup var ending: UserEnding
    @OptionGroup(title: GlobalOptions.title) var global: GlobalOptions

    func run(_ invocation: Invocation) async throws {
        let access = VaultAccess(global, invocation)
        if let certificate { try PrivateFile.refuseExisting(certificate) }
        if dryRun { return try await plan(access, invocation) }
        let copies = try? await access.open { vault in
            ((try? await vault.backups(holding: ending.qualified)) ?? [], try await vault.moveState())
        }
        let (backups, former) = copies ?? ([], nil)
        do {
            try await ending.run(
                endsDamaged: true, as: "erase", asking: { "Erase user \($0) and \($1)" }, access
            ) { users, id in
                let handle = try? await users.vault.user(id).handle
                let sources = await users.vault.sources(ofUser: id)
                // Before the erasure: afterwards there is no second chance.
                let file = try certificate.map { (path: $0, open: try PrivateFile.create($0)) }
                let report: RevocationReport
                do {
                    report = try await users.eraseUser(id)
                } catch {
                    if let file { NamedFile(file.path).discard() }
                    throw error
                }
                ReturningRows.warn(ofUserIn: sources, invocation)
                let facts = try await ErasureView.record(of: handle, in: users.vault)
                if let file {
                    try PrivateFile.write(Array((facts.json.text + "\n").utf8), to: file.open, file.path)
                    do throws(SystemError) { try file.open.synchronize() } catch {
                        throw Failure(.machine, code: "outputFailed", "the certificate could not be written to disk")
                    }
                }
                return (report, "erased", [.data("erasure", facts)])
            }
        } catch let error as ExitRequest {
            warnOfCopies(backups, former, access, invocation)
            throw error
        }
        warnOfCopies(backups, former, access, invocation)
    }

    /// Copies that still have the user, who is erased now.
    private func warnOfCopies(
        _ backups: [Backup], _ former: MoveState?, _ access: VaultAccess, _ invocation: Invocation
    ) {
        warn(of: backups, invocation)
        warn(of: former, invocation)
        warnOfSnapshots(access, invocation)
    }

    private func plan(_ access: VaultAccess, _ invocation: Invocation) async throws {
        let id = ending.qualified
        let (logins, pending, revocations, backups, former) = try await access.open { vault in
            try await ending.refuseTwin("erase", in: vault)
            await ReturningRows.warn(ofUserIn: vault.sources(ofUser: id), invocation)
            let pending = try await vault.pendingLogIns(of: id)
            do {
                let user = try await vault.user(id)
                return (
                    user.logins, pending, try await vault.revocationsWaiting(ofUser: user.handle),
                    try await vault.backups(holding: id), try await vault.moveState()
                )
            } catch let error as VaultError where error.code == .unknownUser && pending > 0 {
                // A restored backup has no pending log-ins.
                return ([], pending, 0, [], try await vault.moveState())
            }
        }
        let record: OutputRecord = [
            Field("user", id), Field("logins", logins.map(\.description)).words(logins.count),
            Field("pendingLogIns", pending).label("pending log-ins"),
            Field("pendingRevocations", revocations), .data("isDryRun", true),
            Field("backups", backups.map(BackupRecords.record)).words(backups.count),
            Field("snapshots", snapshots(access).map(\.path)).words(snapshots(access).count)
                .label("copies from before a migration"),
        ]
        let table = Table(["BACKUP", "MADE", "PATH"], backups.map(BackupRecords.record), now: invocation.now)
        try invocation.emit(
            record, text: invocation.text(record) + (backups.isEmpty ? "" : "\n" + invocation.text(table)))
        warn(of: former, invocation)
        invocation.note("nothing was erased; the audit trail keeps random handles only")
    }

    private func warn(of backups: [Backup], _ invocation: Invocation) {
        guard !backups.isEmpty else { return }
        invocation.warn(
            "\(Count.of(backups.count, "backup")) may still hold the user: "
                + backups.suffix(20).map { Printable.path($0.path) }.joined(separator: ", ")
                + (backups.count > 20 ? " and others (vaultctl backup list)" : "")
                + "; destroy every copy, then: vaultctl backup forget BACKUP")
    }

    /// The vault from which this one was moved keeps what it had.
    private func warn(of move: MoveState?, _ invocation: Invocation) {
        guard let move, move.stage == .arrived else { return }
        invocation.warn(
            "the vault \(move.otherVault), from which everything was moved here, and its backups may still hold the user: "
                + "destroy them")
    }

    private func snapshots(_ access: VaultAccess) -> [MigrationStatus.Snapshot] {
        (try? MigrationView.status(access).snapshots) ?? []
    }

    private func warnOfSnapshots(_ access: VaultAccess, _ invocation: Invocation) {
        let snapshots = snapshots(access)
        guard !snapshots.isEmpty else { return }
        let copies = Count.of(snapshots.count, "copy", plural: "copies")
        invocation.warn(
            "\(copies) of the vault from before a migration may still hold the user: "
                + snapshots.map { Printable.path($0.path) }.joined(separator: ", ")
                + "; remove them: vaultctl migrate discard")
    }
}
