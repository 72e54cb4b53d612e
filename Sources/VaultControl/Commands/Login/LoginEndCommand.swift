import ArgumentParser
import TokenVault

struct LoginEndCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "end",
        abstract: "End many logins: of a user, of a provider, or by state, label and metadata.",
        discussion: """
            vaultctl login end --provider acme --dry-run
            vaultctl login end --provider acme
            vaultctl login end --state dead --dead-for 90d --by remove
            vaultctl login end --user mallory --by terminate --reason globalBan

            Each login ends at once here; then its provider is asked. Exit code 3 means that some logins could not be \
            ended, or that a provider has not confirmed yet: run it again for the first, and vaultctl outbox retry for \
            the second.
            """)

    enum Way: String, CaseIterable, ExpressibleByArgument {
        case revoke, remove, terminate
    }

    @OptionGroup var filter: LoginFilterOptions

    @Option(
        help: .init(
            "revoke: here and at the provider; remove: here alone; terminate: revoke, and keep with a reason.",
            valueName: "way"))
    var by: Way = .revoke

    @Option(
        help: .init(
            "Why, with --by terminate: \(ReasonOption.choices).", valueName: "reason"))
    var reason: ReasonOption?

    @Flag(help: "Count the logins, and end none.")
    var dryRun = false

    @OptionGroup var confirmation: ConfirmationOptions
    @OptionGroup(title: GlobalOptions.title) var global: GlobalOptions

    func validate() throws {
        try TimeSpan.requireLength(filter.deadFor, of: "--dead-for", isZeroAllowed: true)
        if (by == .terminate) != (reason != nil) {
            throw ValidationError("--by terminate and --reason belong together")
        }
    }

    func run(_ invocation: Invocation) async throws {
        let wanted = try filter.filter(now: invocation.now)
        guard !wanted.isEmpty else {
            throw Failure.usage(
                "this would end every login of the vault", hint: "name a user, a provider, a state or a label")
        }
        let end: LoginEnd =
            switch by {
            case .revoke: .loggedOut
            case .remove: .removed
            case .terminate: .terminated(reason?.reason ?? .unauthorized)
            }
        let report: LoginEndReport? = try await VaultAccess(global, invocation).manage { users in
            try await users.vault.require(wanted.tenant)
            try await TenantLookalike.refuseTwin(endingLoginsOf: filter.user, filter.tenant, in: users.vault)
            let count = try await users.vault.loginCounts(where: wanted).logins
            if count == 0 { filter.reportNothing(invocation, isQuietInPipe: false) }
            guard !dryRun else {
                try invocation.emit(OutputRecord([Field("logins", count)]))
                return nil
            }
            if count > 0 {
                if by != .remove {
                    await RevocationView.warnOfOriginal(users.vault, alone: "--by remove", invocation)
                }
                try confirmation.require("End \(Count.of(count, "login")) (\(by.rawValue))", invocation)
            }
            let progress = Progress("ending", on: invocation.console, isQuiet: invocation.isQuiet)
            defer { progress.finish() }
            return try await users.endLogins(where: wanted, by: end) { ended, _ in
                progress.update(done: ended, total: count)
            }
        }
        if let report { try Self.emit(report, invocation) }
    }

    private static func emit(_ report: LoginEndReport, _ invocation: Invocation) throws {
        let failures = report.failures.map { failure in
            [.data("login", failure.login), .data("error", failure.error.code.name)] as OutputRecord
        }
        try invocation.emit(
            OutputRecord([
                Field("ended", report.ended), Field("settled", report.settled), Field("pending", report.pending),
                Field("unsupported", report.unsupported), Field("failed", report.failed),
                Field("damaged", report.damaged), .data("failures", failures),
            ]))
        for failure in report.failures.prefix(10) {
            invocation.warn("login \(failure.login) could not be ended: \(failure.error.message)")
        }
        if report.pending > 0 {
            invocation.warn("not every provider has confirmed; the vault keeps the revocations until they have")
            invocation.hint("try again: vaultctl outbox retry --all")
        }
        if report.damaged > 0 { invocation.hint("see what cannot be opened: vaultctl damage list") }
        if !report.isComplete { throw ExitRequest(status: .partlyDone) }
    }
}
