import ArgumentParser
import TokenVault
import VaultAdministration

struct MoveRunCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Move everything to another vault, or continue an interrupted move.",
        discussion: """
            vaultctl move run 'postgresql://vault@db.internal/app' --target-key-file server.key

            Stop the services that use the vault first. The target is a vault that holds nothing yet: make it with vaultctl \
            init. First, the vault is held for good: it serves valid access tokens, and nothing else. Then everything is \
            resealed under the target's keys. The target accepts no changes until it has everything. So no login is \
            ever renewed by both; while the command runs, none is renewed at all.

            The audit trail, the keys, the witness and the list of backups stay where they are. Keep the old vault for as \
            long as you keep its trail, then destroy it, together with its backups and keys.
            """)

    @Argument(help: .init("The vault to move to: a file, or postgresql://...", valueName: "target"))
    var target: String

    @OptionGroup var key: MoveTargetKeyOptions

    @Flag(help: "Say what would be moved, and change nothing.")
    var dryRun = false

    @OptionGroup var confirmation: ConfirmationOptions
    @OptionGroup(title: GlobalOptions.title) var global: GlobalOptions

    func run(_ invocation: Invocation) async throws {
        let progress = CountingProgress("moving logins", invocation)
        var wasComplete = false
        let report = try await VaultAccess(global, invocation).openBoth(target, key) { source, target in
            defer { progress.finish() }
            let plan = try await source.planMove(to: target)
            wasComplete = try await source.moveState()?.stage == .left
            if dryRun || wasComplete { return plan }
            if !plan.wasBegun {
                try confirmation.require(
                    "Move \(Count.of(plan.logins, "login")) of \(Count.of(plan.users, "user")), and hold this vault for good",
                    invocation)
            }
            do {
                return try await source.move(to: target) { progress.update(done: $0, total: $1) }
            } catch let error as VaultError {
                throw await interrupted(error, source)
            }
        }
        try invocation.emit(record(report) + [.data("wasComplete", wasComplete)], text: "")
        if wasComplete { return invocation.note("everything was moved to that vault before; nothing was done") }
        tell(report, invocation)
    }

    /// The error of a move that has begun, with what becomes of it.
    private func interrupted(_ error: VaultError, _ source: Vault) async -> any Error {
        guard (try? await source.moveState())?.stage == .leaving else { return error }
        var failure = Failure(error)
        let arguments = "\(Printable.path(target))\(key.typed)"
        failure.hints.append(
            "the move has begun, and no login is renewed until it is complete: run it again: vaultctl move run \(arguments)"
                + "; or give it up: vaultctl move abort \(arguments)")
        return failure
    }

    private func tell(_ report: MoveReport, _ invocation: Invocation) {
        let what =
            "\(Count.of(report.logins, "login")) of \(Count.of(report.users, "user")), "
            + "\(Count.of(report.providers, "provider")), \(Count.of(report.pendingRevocations, "pending revocation"))"
        guard !dryRun else {
            invocation.note("\(what) would be moved; nothing was changed")
            return
        }
        invocation.note("moved \(what)")
        invocation.note(
            "the audit trail (\(Count.of(report.auditHead, "row"))) and the list of backups "
                + "(\(report.backups)) stay with the old vault, which is held for good")
        invocation.hint("let the services use the new vault: TOKENVAULT_VAULT=\(Printable.shortened(target, to: 400))")
    }

    private func record(_ report: MoveReport) -> OutputRecord {
        [
            .data("source", report.source), .data("target", report.target), .data("isDryRun", dryRun),
            .data("wasBegun", report.wasBegun), .data("providers", report.providers), .data("users", report.users),
            .data("logins", report.logins), .data("pendingRevocations", report.pendingRevocations),
            .data("keptReplies", report.keptReplies), .data("pendingLogIns", report.pendingLogIns),
            .data("left", [.data("auditHead", report.auditHead), .data("backups", report.backups)] as OutputRecord),
        ]
    }
}
