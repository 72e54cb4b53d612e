import ArgumentParser
import Platform
import TokenVault

struct BackupCreateCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Make a backup while the vault is in use, and check it.",
        discussion: """
            In a directory the backup gets a name of its own, made of the vault's name, the time in UTC and the last \
            row of the audit trail. Nothing is overwritten, and what fails leaves nothing behind.

            The backup holds the vault's keys, wrapped as they are in the vault: keep the key file elsewhere. Anyone \
            who has both can read users who were erased later, so destroy backups in time.

            With --for, only the identities of these recipients open it, and no key of the vault does: make one with \
            age-keygen on another machine, and a new one now and then. Once an identity is destroyed, no backup for it \
            can be read again, wherever copies are.
            """)

    @Argument(help: "A directory, or a file that does not exist.", completion: .file())
    var target: String

    @Option(
        name: .customLong("for"),
        help: .init("Who alone can open it, as age1…. Can be given more than once.", valueName: "recipient"))
    var recipients: [String] = []

    @Flag(help: "Allow a target on the vault's own device, because you copy the backup away from there.")
    var sameDevice = false

    @Flag(help: "Check whether a backup could be made there, and make none.")
    var dryRun = false

    @OptionGroup(title: GlobalOptions.title) var global: GlobalOptions

    func run(_ invocation: Invocation) async throws {
        let access = VaultAccess(global, invocation)
        try refuseElsewhere(invocation)
        try Failure.requireSingle(recipients, "--for")
        let progress = Progress("copying", on: invocation.console, isQuiet: invocation.isQuiet)
        let started = ContinuousClock.now
        if dryRun { return try await plan(access, invocation) }
        let isBare = FileIdentity(path: target) == nil && !PathName.lastPart(of: target).contains(".")
        let backup = try await access.open { vault in
            defer { progress.finish() }
            return try await vault.backUp(to: target, for: recipients, allowsSameDevice: sameDevice) {
                progress.update(done: $0, total: $1)
            }
        }
        let seconds = (ContinuousClock.now - started) / .seconds(1)
        try invocation.emit(
            BackupRecords.record(backup) + [
                Field("milliseconds", Int(seconds * 1_000)).label("time").words(Instant.duration(seconds))
            ])
        if isBare {
            invocation.note(
                "made the file \(Printable.path(target)); in a directory that exists, each backup gets its own name")
        }
        invocation.hint("check every cell of it: vaultctl backup verify '\(backup.path)'")
    }

    /// Refuses a target that is not a path: a stream, an address that another program could copy to, a shell slip.
    private func refuseElsewhere(_ invocation: Invocation) throws(Failure) {
        guard target != "-" else {
            throw .usage(
                "a backup is a file, and is not written to standard output", hint: "name a directory or a file")
        }
        guard FileIdentity(path: target) == nil else { return }
        // `s3://bucket/x`, and `host:/backups` as for scp and rsync.
        let isHost = target.firstIndex(of: ":").map {
            !target[..<$0].contains("/") && (target[$0...].hasPrefix(":/") || target[..<$0].contains("@"))
        }
        if isHost == true, PathProblem.bare(target) == nil {
            throw .usage(
                "a backup is made in a file of this machine, and \(Printable.path(target)) is an address",
                hint: "make it in a directory of this machine with --same-device, and copy it away from there")
        }
        guard let hint = PathProblem.slip(target, "backup", invocation.console.environment["HOME"]) else { return }
        throw .usage("no backup can be made at \(Printable.path(target))", hint: hint)
    }

    private func plan(_ access: VaultAccess, _ invocation: Invocation) async throws {
        let plan = try await access.open { vault in
            try await vault.planBackup(to: target, for: recipients, allowsSameDevice: sameDevice)
        }
        try invocation.emit(
            [
                Field("path", plan.path), Field("bytes", Int(clamping: plan.byteCount)).label("bytes needed"),
                .data("isDryRun", true),
            ])
        invocation.note("no backup was made")
    }
}
