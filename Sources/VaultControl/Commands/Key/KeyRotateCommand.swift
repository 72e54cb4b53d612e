import ArgumentParser
import FoundationEssentials
import TokenVault
import VaultAdministration
import VaultStorage

struct KeyRotateCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate",
        abstract: "Replace the root key, and reseal everything under the new one.",
        discussion: """
            vaultctl key rotate            rotate; or continue an interrupted rotation
            vaultctl key rotate --status   show the root key's age, and the rest of a rotation
            vaultctl key rotate --abort    go back to the root key from before
            vaultctl key rotate --data-keys          replace the data key of every user instead
            vaultctl key rotate --data-keys --user U of this one
            vaultctl key rotate --index    replace the key by which users and providers are found instead
            vaultctl key rotate --audit    replace the key of the audit log instead

            Services keep running. You can stop it at any moment: the same command continues where it stopped. The key slots \
            stay: someone who has copied the vault key can still open the vault. Exit code 3 if the old root key had to be \
            kept, because something could not be resealed yet.

            The root key protects the users' data keys, which protect their tokens. If someone may have read them, with a \
            copy of the vault and a key of it: key rekey, key rotate, then key rotate --data-keys. If that is interrupted, \
            continue with --older-than and the time since it was begun.

            The index key protects no token. Someone who has it, and a copy of the vault, can find out whether a user id \
            that they guess is in it.

            The audit key protects no token either. Someone who has it, and can write to the vault, can forge the audit log.
            """)

    @Flag(help: "Show the state of a rotation, and change nothing.")
    var status = false

    @Flag(help: "Go back to the root key from before a rotation that is not complete.")
    var abort = false

    @Option(
        help: .init(
            "How long to wait for other processes to end renewals that they began before.", valueName: "time"))
    var wait = TimeSpan(.seconds(120))

    @Flag(help: "Replace the users' data keys instead of the root key.")
    var dataKeys = false

    @Flag(help: "Replace the index key instead of the root key.")
    var index = false

    @Flag(help: "Replace the key of the audit log instead of the root key.")
    var audit = false

    @Flag(help: "With --index: only show how much there is to do.")
    var dryRun = false

    @Option(help: .init("Replace the data key of this user alone.", valueName: "user"))
    var user: String?

    @OptionGroup var tenant: TenantOption

    @Option(help: .init("Replace data keys that are older than this, such as 2h.", valueName: "time"))
    var olderThan: TimeSpan?

    @OptionGroup(title: GlobalOptions.title) var global: GlobalOptions

    func validate() throws {
        guard [status, abort, dataKeys, index, audit].count(where: { $0 }) <= 1 else {
            throw ValidationError("--status, --abort, --data-keys, --index and --audit cannot be combined")
        }
        guard index || !dryRun else {
            throw ValidationError("--dry-run counts what --index would change, and goes with it alone")
        }
        guard dataKeys || user == nil && olderThan == nil else {
            throw ValidationError("--user and --older-than need --data-keys")
        }
        guard tenant.tenant == nil || user != nil else {
            throw ValidationError("--tenant needs --user")
        }
        guard user == nil || olderThan == nil else {
            throw ValidationError("--user and --older-than cannot be combined")
        }
    }

    func run(_ invocation: Invocation) async throws {
        if dataKeys { return try await replaceDataKeys(invocation) }
        if index { return try await replaceIndexKey(invocation) }
        if audit { return try await replaceAuditKey(invocation) }
        guard !status else { return try await showStatus(invocation) }
        let progress = RotationProgress(invocation)
        let timeLimit = wait.duration
        let report = try await VaultAccess(global, invocation).open { vault in
            defer { progress.finish() }
            do {
                return abort
                    ? try await vault.abortRootKeyRotation(timeLimit: timeLimit) { progress.update($0) }
                    : try await vault.rotateRootKey(timeLimit: timeLimit) { progress.update($0) }
            } catch  where Task.isCancelled {
                throw Failure(
                    .partlyDone, code: "interrupted", "interrupted; resealed cells stay resealed, and nothing is lost",
                    hints: [
                        "go on: vaultctl key rotate\(abort ? " --abort" : "")",
                        "see what is left: vaultctl key rotate --status",
                    ])
            }
        }
        try invocation.emit(record(report), text: "")
        guard !report.isComplete else {
            let what = abort ? "went back to the former root key" : "rotated the root key"
            return invocation.note("\(what): \(Count.of(report.resealed.total, "cell")) sealed anew")
        }
        for obstacle in report.obstacles { invocation.warn(words(obstacle)) }
        throw ExitRequest(status: .partlyDone)
    }

    private func replaceDataKeys(_ invocation: Invocation) async throws {
        let progress = Progress("sealing anew", on: invocation.console, isQuiet: invocation.isQuiet)
        let age = (olderThan?.duration ?? .zero) / .seconds(1)
        let time = invocation.now.addingTimeInterval(-age)
        let (replaced, damaged) = try await VaultAccess(global, invocation).open { vault in
            defer { progress.finish() }
            if let user = user.map({ tenant.user($0) }) {
                try await vault.replaceDataKey(ofUser: user)
                return (1, 0)
            }
            return try await vault.replaceDataKeys(madeBefore: time) { progress.update(done: $0, total: $1) }
        }
        let record: OutputRecord = [.data("replaced", replaced), .data("damaged", damaged)]
        try invocation.emit(record, text: "")
        invocation.note("\(Count.of(replaced, "user")) with a new data key")
        guard damaged > 0 else { return }
        invocation.warn(
            "\(Count.of(damaged, "user")) kept the old one, because something of theirs cannot be opened")
        invocation.hint("see what: vaultctl damage list")
        throw ExitRequest(status: .partlyDone)
    }

    private func showStatus(_ invocation: Invocation) async throws {
        let (status, index, audit) = try await VaultAccess(global, invocation).open {
            (try await $0.rootKeyStatus(), try await $0.indexKeyStatus(), try await $0.auditKeyStatus())
        }
        let left = status.remaining
        try invocation.emit(
            [
                Field("madeAt", status.madeAt).label("root key made"), Field("isRotating", status.isRotating),
                .data("remaining", record(left)),
                .line("left to do", status.isRotating ? words(left) : "nothing"),
                .data(
                    "index",
                    [Field("madeAt", index.madeAt?.date), Field("isReplacing", index.isReplacing)] as OutputRecord),
                .line("index key made", index.madeAt?.date),
                .data(
                    "audit",
                    [Field("madeAt", audit.madeAt?.date), Field("formerKeys", audit.formerKeys)] as OutputRecord),
                .line("audit key made", audit.madeAt?.date),
            ])
        if status.isRotating { invocation.note("a rotation is not complete; continue with: vaultctl key rotate") }
        if index.isReplacing {
            invocation.note("the index key is being replaced; go on with: vaultctl key rotate --index")
        }
    }

    private func words(_ cells: RootSealedCells) -> String {
        let parts = [
            (cells.users, "user"), (cells.providers, "provider"), (cells.authorizationRequests, "pending log-in"),
            (cells.outbox, "pending revocation"),
        ]
        let words = parts.filter { $0.0 > 0 }.map { Count.of($0.0, $0.1) }
        return words.isEmpty ? "giving up the old root key" : words.joined(separator: ", ")
    }

    private func words(_ obstacle: RootRotationObstacle) -> String {
        let kept = "the old root key is kept"
        switch obstacle {
        case .unreadable(let cells):
            return "\(kept): \(Count.of(cells.total, "row")) cannot be opened; see them with: vaultctl damage list"
        case .spooled:
            return """
                \(kept): replies are in the spool that the vault has not taken in yet; run vaultctl maintain --once, then \
                vaultctl key rotate again
                """
        case .busy:
            return """
                \(kept): other processes have renewals under way that began before; run vaultctl key rotate again when they \
                are done
                """
        }
    }

    private func record(_ report: RootRotationReport) -> OutputRecord {
        let obstacles = report.obstacles.map { obstacle -> String in
            switch obstacle {
            case .unreadable: "damagedRows"
            case .spooled: "spooledReplies"
            case .busy: "renewalsUnderWay"
            }
        }
        return [
            .data("isComplete", report.isComplete), .data("isResumed", report.isResumed),
            .data("resealed", record(report.resealed)), .data("obstacles", obstacles),
        ]
    }

    private func record(_ cells: RootSealedCells) -> OutputRecord {
        [
            .data("users", cells.users), .data("providers", cells.providers),
            .data("authorizationRequests", cells.authorizationRequests), .data("revocations", cells.outbox),
        ]
    }
}

/// One bar for each phase.
private final class RotationProgress: Sendable {
    private let sealing: Progress
    private let verifying: Progress

    init(_ invocation: Invocation) {
        sealing = Progress("sealing anew", on: invocation.console, isQuiet: invocation.isQuiet)
        verifying = Progress("verifying", on: invocation.console, isQuiet: invocation.isQuiet)
    }

    func update(_ progress: RootRotationProgress) {
        switch progress.phase {
        case .sealing: sealing.update(done: progress.done, total: progress.total)
        case .verifying:
            sealing.finish()
            verifying.update(done: progress.done, total: progress.total)
        case .waiting: verifying.finish()
        }
    }

    func finish() {
        sealing.finish()
        verifying.finish()
    }
}
