import ArgumentParser
import Platform
import TokenVault

/// When `maintain` makes backups, and which ones it keeps.
struct BackupOptions: ParsableArguments {
    @Option(help: .init("The time between backups, such as 6h.", valueName: "time"))
    var backupEvery: TimeSpan?

    @Option(help: .init("Where backups go.", valueName: "directory"), completion: .directory)
    var backupDir: String?

    @Option(help: .init("Which backups to keep, such as 24h,7d,5w,12mo; without it all of them.", valueName: "spans"))
    var keep: BackupKeeping?

    @Option(
        help: .init("Who alone can open the backups, as age1…. Can be given more than once.", valueName: "recipient"))
    var backupFor: [String] = []

    @Flag(help: "Allow backups on the vault's own device, because you copy them away from there.")
    var sameDevice = false

    func validate() throws {
        guard (backupEvery == nil) == (backupDir == nil) else {
            throw ValidationError("--backup-every and --backup-dir belong together")
        }
        guard backupFor.isEmpty || backupDir != nil else { throw ValidationError("--backup-for needs --backup-dir") }
        guard !sameDevice || backupDir != nil else { throw ValidationError("--same-device needs --backup-dir") }
        guard keep == nil || backupDir != nil else { throw ValidationError("--keep needs --backup-dir") }
        if let backupEvery, backupEvery.duration < .seconds(60) {
            throw ValidationError("--backup-every must be at least a minute")
        }
    }

    /// Refuses a missing directory, such as one whose disk is not mounted, before anything begins.
    ///
    /// - Parameter vault: the vault's file.
    func requireDirectory(vault: String) throws(Failure) {
        guard let backupDir else { return }
        if let problem = PathProblem(
            "directory for backups", at: backupDir, from: "--backup-dir",
            advice: "check --backup-dir; is its disk mounted?")
        {
            throw Failure(
                .machine, code: problem.isMissing ? "directoryMissing" : nil, problem.message, hints: problem.hints)
        }
        guard let status = try? FileStatus(at: backupDir, followingLinks: true), status.kind == .directory else {
            throw .usage(
                "\(Printable.path(backupDir)) is not a directory",
                hint: "--backup-dir names the directory in which backups are made")
        }
        let own = sameDevice ? nil : try? FileStatus(at: vault, followingLinks: true)
        guard own?.identity.device != status.identity.device else {
            throw Failure(
                .unsafeFile,
                "\(Printable.path(backupDir)) (--backup-dir) is on the vault's own device: backups would be lost with the vault",
                hints: ["name a directory on another device; if they are copied away from here, add --same-device"])
        }
    }

    func scheduler(
        of vault: Vault, onEvent: @escaping @Sendable (BackupSchedule.Event) -> Void
    ) -> BackupScheduler? {
        guard let backupEvery, let backupDir else { return nil }
        return BackupScheduler(
            vault,
            options: BackupSchedule(
                every: backupEvery.duration, directory: backupDir, keep: keep?.retention, for: backupFor,
                allowsSameDevice: sameDevice, onEvent: onEvent))
    }
}

/// `24h,7d,5w,12mo` on the command line.
struct BackupKeeping: ExpressibleByArgument {
    let retention: BackupRetention

    init?(argument: String) {
        guard let retention = BackupRetention(argument) else { return nil }
        self.retention = retention
    }
}
