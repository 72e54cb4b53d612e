import ArgumentParser
import FoundationEssentials
import Synchronization
import TokenVault
import VaultImport
import VaultStorage

struct MaintainCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "maintain",
        abstract: "Renew tokens before they expire, until stopped.",
        discussion: """
            Runs the scheduler in the foreground, for a vault whose service does not run one, or alongside it: they share \
            the work. Also retries revocations that are due, settles renewals of processes that have died, and removes \
            old rows of the audit log. SIGTERM and SIGINT end it once the work in progress is finished and stored; a \
            second one ends it at once.

            With --backup-every and --backup-dir it also makes backups, and with --keep removes old ones: the last \
            backup of each of the last hours, days, weeks and months in --keep stays. With --rotate-root-every it \
            replaces the root key when the key reaches that age.

            vaultctl maintain           run until stopped; print a line for each login that was due
            vaultctl maintain --once    do what is due now, then end: for cron. Exit code 3 if something failed

            Logins that only the app can renew are left to it.

            Under systemd, with Type=notify, it reports when it is ready, that it is stopping, and, if the unit has \
            WatchdogSec=, that it is alive.
            """)

    /// A shorter interval has no benefit, and reseals all users each time.

    @Flag(help: "Do what is due now, and end.")
    var once = false

    @Option(help: .init("How many renewals to run at a time.", valueName: "number"))
    var concurrency = 16

    @Option(
        help: .init(
            "Remove rows of the audit log that are older than this. (default: \(MaintainCommand.standardAudit.defaultValueDescription))",
            valueName: "time"))
    var keepAudit: TimeSpan?

    @Flag(name: .customLong("keep-whole-audit"), help: "Remove no rows of the audit log.")
    var keepsWholeAudit = false

    @Option(help: .init("Replace the root key when it is older than this, such as 180d.", valueName: "time"))
    var rotateRootEvery: TimeSpan?

    @Option(
        help: .init(
            "Write metrics to this file, in the text format of Prometheus, for a collector such as node_exporter.",
            valueName: "file"), completion: .file())
    var metricsFile: String?

    @OptionGroup var backups: BackupOptions
    @OptionGroup(title: GlobalOptions.title) var global: GlobalOptions

    var actsByItself: Bool { true }

    private static let standardAudit = TimeSpan(AuditRetention.standard.age)

    func validate() throws {
        guard keepAudit == nil || !keepsWholeAudit else {
            throw ValidationError("--keep-audit and --keep-whole-audit cannot be combined")
        }
        guard keepAudit?.duration != .zero else {
            throw ValidationError("--keep-audit 0 would remove each row at once; to remove none: --keep-whole-audit")
        }
        try TimeSpan.requireLength(keepAudit, of: "--keep-audit")
        guard (1...1_000).contains(concurrency) else {
            throw ValidationError("--concurrency must be between 1 and 1000")
        }
        try TimeSpan.requireLength(rotateRootEvery, of: "--rotate-root-every")
    }

    func run(_ invocation: Invocation) async throws {
        let started = ContinuousClock.now
        let access = VaultAccess(global, invocation)
        if backups.backupEvery != nil {
            let advice = "leave out --backup-every; a vault on a server is backed up with its database"
            try backups.requireDirectory(vault: try access.file(advice))
            try Failure.requireSingle(backups.backupFor, "--backup-for")
            try SealedOutput.check(backups.backupFor)
        }
        let metrics = try metricsFile.map { try MetricsFile($0) }
        let notifier = once ? nil : ServiceNotifier(invocation.console.environment)
        // Until the very end: work in progress is finished while the service stops.
        let watchdog = notifier?.keepAlive()
        defer { watchdog?.cancel() }
        var (hasFailed, backupFailed) = (false, false)
        var watch: MaintainWatch?
        let report = try await access.manage(UserManagerOptions(metrics: metrics?.metrics)) { users, _ in
            let surveying = metrics.map { $0.keepWriting(of: users.vault) }
            defer { surveying?.cancel() }
            let lines = MaintainLines(invocation)
            let obstacles = MaintainWatch(users.vault, isFile: try access.isFile) { lines.print($0, $1) }
            watch = obstacles
            try await obstacles.look()
            let scheduler = RenewalScheduler(
                users, options: schedulerOptions { if !obstacles.note($0) { lines.print($0) } })
            let backup = backups.scheduler(of: users.vault) { lines.print($0) }
            let rotation = rootKeyScheduler(of: users.vault) { lines.print($0) }
            if once {
                try await scheduler.runOnce()
                backupFailed = try await !isDone({ lines.print(BackupSchedule.Event.failed($0)) }) {
                    try await backup?.runOnce()
                    return true
                }
                hasFailed = try await !isDone({ lines.print(RootKeySchedule.Event.failed($0)) }) {
                    try await rotation?.runOnce()?.isComplete ?? true
                }
            } else {
                lines.print("maintaining this vault until SIGTERM or SIGINT")
                try await run(scheduler, backup, rotation, notifier, obstacles)
            }
            await metrics?.write(of: users.vault)
            return scheduler.report
        }
        let seconds = Int((ContinuousClock.now - started) / .seconds(1))
        if let end = watch?.end { throw end }
        try emit(report, seconds, backupFailed: backupFailed, invocation)
        if once, Task.isCancelled { throw CancellationError() }
        let hasUnsettled = report.revocationsSettled < report.revocationsTried
        if hasUnsettled, once { invocation.hint("what is left to be revoked: vaultctl outbox list") }
        let isWhole = report.failed == 0 && !hasUnsettled && !hasFailed && !backupFailed
        if once, !isWhole { throw ExitRequest(status: .partlyDone) }
        // This command is meant to be stopped, so that is not a failure.
        if !once { throw ExitRequest(status: .success, isFinal: true) }
    }

    /// Reports a task's failure without stopping the other tasks.
    private func isDone(
        _ tell: (any Error) -> Void, _ body: () async throws -> Bool
    ) async throws -> Bool {
        do { return try await body() } catch {
            if error is CancellationError { throw error }
            tell(error)
            return false
        }
    }

    /// Runs until it is cancelled.
    private func run(
        _ scheduler: RenewalScheduler, _ backup: BackupScheduler?, _ rotation: RootKeyScheduler?,
        _ notifier: ServiceNotifier?, _ watch: MaintainWatch
    ) async throws {
        notifier?.send(.ready)
        try await withTaskCancellationHandler {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await scheduler.run() }
                group.addTask { _ = try await backup?.run() }
                group.addTask { _ = try await rotation?.run() }
                group.addTask {
                    await watch.run()
                    // If continuing is pointless, the other tasks end, too.
                    if let end = watch.end { throw end }
                }
                while try await group.next() != nil {}
            }
        } onCancel: {
            notifier?.send(.stopping)
        }
    }

    private func rootKeyScheduler(
        of vault: Vault, _ onEvent: @escaping @Sendable (RootKeySchedule.Event) -> Void
    ) -> RootKeyScheduler? {
        rotateRootEvery.map { RootKeyScheduler(vault, options: RootKeySchedule(every: $0.duration, onEvent: onEvent)) }
    }

    private func schedulerOptions(_ onRenewal: @escaping @Sendable (ScheduledRenewal) -> Void) -> SchedulerOptions {
        let retention = keepsWholeAudit ? nil : AuditRetention(age: (keepAudit ?? Self.standardAudit).duration)
        return SchedulerOptions(concurrency: concurrency, auditRetention: retention, onRenewal: onRenewal)
    }

    private func emit(
        _ report: SchedulerReport, _ seconds: Int, backupFailed: Bool, _ invocation: Invocation
    ) throws {
        let outcomes = report.outcomes.sorted { $0.key.description < $1.key.description }
        let lines = outcomes.filter { $0.key != .renewed }.map { Field.line($0.key.description, $0.value) }
        let settled = "\(report.revocationsSettled) of \(report.revocationsTried) settled"
        try invocation.emit(
            [
                Field("renewed", report.renewed), .data("failed", report.failed),
                .data("backupFailed", backups.backupEvery == nil ? nil : backupFailed),
                .data("outcomes", OutputRecord(outcomes.map { .data($0.key.description, $0.value) })),
            ] + OutputRecord(lines) + [
                Field("revocationsTried", report.revocationsTried).label("revocations")
                    .words(report.revocationsTried > 0 ? settled : nil),
                .data("revocationsSettled", report.revocationsSettled),
                Field("auditEntriesRemoved", report.auditEntriesRemoved).label("old audit rows")
                    .words(report.auditEntriesRemoved > 0 ? "\(report.auditEntriesRemoved) removed" : nil),
                Field("seconds", seconds).label("time").words(Instant.duration(Double(seconds))),
            ])
    }
}

/// Events for an observer: one line each, on standard error, so that the output is the summary alone.
private struct MaintainLines: Sendable {
    /// The scheduler checks a login this often: a renewal due earlier happens at the next check.
    private static let secondsBetweenLooks = 30.0

    private let invocation: Invocation

    init(_ invocation: Invocation) { self.invocation = invocation }

    /// - Parameter details: for programs.
    func print(_ text: String, _ details: OutputRecord = []) {
        guard !invocation.logsJSON else { return invocation.isQuiet ? () : invocation.log("info", text, details) }
        invocation.note("\(invocation.now.formatted(.iso8601))  \(text)")
    }

    func print(_ event: BackupSchedule.Event) {
        switch event {
        case .made(let backup):
            print(
                "made backup \(Printable.path(backup.path))",
                [.data("backup", BackupRecords.record(backup))])
        case .removed(let backup):
            print(
                "removed backup \(Printable.path(backup.path))",
                [.data("removedBackup", BackupRecords.record(backup))])
        case .failed(let error):
            let failure = Failure(error)
            print("no backup was made: \(failure.message)", failure.record)
        }
    }

    func print(_ event: RootKeySchedule.Event) {
        switch event {
        case .rotated(let report) where report.isComplete:
            print("replaced the root key: \(Count.of(report.resealed.total, "cell")) sealed anew")
        case .rotated: print("the root key is being replaced; the old one is still needed, see: vaultctl key rotate")
        case .failed(let error): print("the root key was not replaced: \(Failure(error).message)")
        }
    }

    func print(_ renewal: ScheduledRenewal) {
        // Another process had renewed it: no news.
        guard renewal.outcome != .unneeded else { return }
        let name = "\(renewal.login) (\(Printable.shortened(renewal.provider ?? "app")))"
        let nextLook = invocation.now.addingTimeInterval(Self.secondsBetweenLooks)
        let next = renewal.nextDue.map { Instant.relative(max($0, nextLook), now: invocation.now) }
        let reason = renewal.obstacle.map { Printable.escape($0.message) } ?? renewal.outcome.description
        switch renewal.outcome {
        case .renewed:
            print("renewed \(name); next renewal \(next ?? "when a call needs it")", Self.details(renewal))
        case .dead:
            let reason = renewal.failure?.reason.description ?? "unknown"
            print("\(name) is dead: \(reason); the user must log in again\(answer(renewal))", Self.details(renewal))
        case .needsUser:
            print(
                "\(name) cannot be renewed until its user acts at the provider\(answer(renewal))", Self.details(renewal)
            )
        default:
            let nextTry = next.map { "; next try \($0)" } ?? ""
            print("\(name) was not renewed: \(reason)\(nextTry)\(answer(renewal))", Self.details(renewal))
        }
    }

    private static func details(_ renewal: ScheduledRenewal) -> OutputRecord {
        let facts: OutputRecord = [
            .data("login", renewal.login), .data("provider", renewal.provider),
            .data("outcome", renewal.outcome.description), .data("reason", renewal.failure?.reason.description),
            .data("obstacle", renewal.obstacle?.code.name), .data("nextDue", renewal.nextDue),
            .data("answer", renewal.answer.map { Printable.escape($0.words) }.flatMap { $0.isEmpty ? nil : $0 }),
        ]
        return [.data("renewal", facts)]
    }

    /// Last on its line: the length and the look of the provider's text are up to the provider.
    private func answer(_ renewal: ScheduledRenewal) -> String {
        guard let words = renewal.answer?.words, !words.isEmpty else { return "" }
        if renewal.answer?.failure != nil { return "; no reply: \(words)" }
        return "; the provider said: \(Printable.shortened(words, to: 400))"
    }
}
