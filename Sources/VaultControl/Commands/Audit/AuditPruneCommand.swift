import ArgumentParser
import FoundationEssentials
import TokenVault
import VaultAdministration

struct AuditPruneCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "prune",
        abstract: "Remove old rows of the audit log; what stays can still be verified.",
        discussion: """
            vaultctl audit prune --dry-run            what would go: rows older than 90 days
            vaultctl audit prune --keep 400d          keep what is younger than 400 days
            vaultctl audit prune --keep-last 50000    keep the last 50 000 rows; with --keep, what either keeps

            The last row of each user, of each provider and of the vault always stays, and so do the last 1000 rows. A \
            row records what was removed. Schedulers and vaultctl maintain prune by themselves; export first what you \
            need for longer.

            If rows are damaged, it stops there with exit code 4. --include-damaged removes them too, and the evidence \
            with them.
            """)

    @Option(help: .init("Keep rows that are younger than this (default: 90d).", valueName: "time"))
    var keep: TimeSpan?

    @Option(help: .init("Keep this number of last rows, whatever their age.", valueName: "number"))
    var keepLast: Int64?

    @Flag(help: "Say what would be removed, and change nothing.")
    var dryRun = false

    @Flag(help: "Also remove rows that are damaged.")
    var includeDamaged = false

    @OptionGroup var confirmation: ConfirmationOptions
    @OptionGroup(title: GlobalOptions.title) var global: GlobalOptions

    func validate() throws {
        guard keep?.duration != .zero else {
            throw ValidationError("--keep 0 would remove rows of any age; to keep only the last ones: --keep-last 1000")
        }
        try TimeSpan.requireLength(keep, of: "--keep")
        guard keepLast ?? 1_000 >= 1_000 else {
            throw ValidationError("--keep-last must be 1000 or more: other processes may still have to read these rows")
        }
    }

    private var retention: AuditRetention {
        let age = keep?.duration ?? (keepLast == nil ? AuditRetention.standard.age : .zero)
        return AuditRetention(age: age, keepingLast: keepLast ?? 1_000)
    }

    func run(_ invocation: Invocation) async throws {
        let retention = retention
        try await VaultAccess(global, invocation).open { vault in
            let plan = try await vault.prunableAudit(retention, includesDamaged: includeDamaged)
            guard !dryRun else {
                try emit(plan, invocation)
                invocation.note("\(Count.of(Int(plan.removed), "row")) would be removed\(Self.always(plan))")
                return
            }
            guard plan.removed > 0 else {
                try emit(plan, invocation)
                invocation.note("there is nothing to remove\(Self.always(plan))")
                return
            }
            try confirmation.require(
                "Remove \(Count.of(Int(plan.removed), "row")) of the audit log, up to row \(plan.through ?? 0)",
                invocation)
            let progress = Progress("pruning", on: invocation.console, isQuiet: invocation.isQuiet)
            defer { progress.finish() }
            let done = try await vault.pruneAudit(retention, includesDamaged: includeDamaged) {
                progress.update(done: Int($0), total: Int(plan.removed))
            }
            progress.finish()
            try emit(done, invocation)
            invocation.note("\(Count.of(Int(done.removed), "row")) removed")
        }
    }

    /// Why there may be nothing to prune, however old the rows are.
    private static func always(_ plan: AuditPruning) -> String {
        plan.removed > 0 ? "" : ": the last 1000 rows always stay, and what is younger than --keep"
    }

    private func emit(_ pruning: AuditPruning, _ invocation: Invocation) throws {
        try invocation.emit([
            Field("dryRun", dryRun).words(JSONValue.null), Field("removed", Int(pruning.removed)),
            Field("kept", Int(pruning.kept)).label("kept of these"),
            Field("damaged", Int(pruning.damaged)).words(pruning.damaged > 0 ? Int(pruning.damaged) : nil),
            Field("through", pruning.through.map { Int($0) }).label("up to row"),
        ])
    }
}
