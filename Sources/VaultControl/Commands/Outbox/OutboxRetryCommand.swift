import ArgumentParser
import TokenVault

struct OutboxRetryCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry",
        abstract: "Ask providers again to revoke what they have not confirmed.",
        discussion: """
            vaultctl outbox retry               what is due
            vaultctl outbox retry --all         also what waits for its time, or for the provider's Retry-After
            vaultctl outbox retry REVOCATION    this one, now

            Exit code 3 says that something is left. What no provider confirms for 30 days is given up: its tokens are \
            destroyed here, and the audit log says so.
            """)

    @Argument(help: "Revocations from vaultctl outbox list; by default all that are due.")
    var revocations: [String] = []

    @Flag(help: "Also those whose time has not come.")
    var all = false

    @Option(help: "How many to try at most.")
    var limit = 1_000

    @OptionGroup var global: GlobalOptions

    func validate() throws {
        guard limit > 0 else { throw ValidationError("--limit must be 1 or more") }
        guard !all || revocations.isEmpty else {
            throw ValidationError("--all and single revocations exclude each other")
        }
    }

    func run(_ invocation: Invocation) async throws {
        let ids = try revocations.map { text in
            guard let id = RevocationID(text) else {
                throw Failure.usage(
                    "\(Printable.shortened(text)) is not the id of a revocation", hint: "see vaultctl outbox list")
            }
            return id
        }
        let selection: UserManager.RevocationSelection = ids.isEmpty ? (all ? .all : .due) : .only(ids)
        let (report, left) = try await VaultAccess(global, invocation).manage { users in
            let report = try await users.retryRevocations(selection, limit: limit)
            return (report, try await users.vault.status().pendingRevocations)
        }
        try emit(report, left, invocation)
        guard report.isComplete else {
            invocation.warn("not every provider has confirmed; what is left stays in the vault")
            throw ExitRequest(status: .partlyDone)
        }
    }

    private func emit(_ report: RevocationRetryReport, _ left: Int, _ invocation: Invocation) throws {
        let results = report.results.map { result -> Sheet in
            [Field("revocation", result.id).column("REVOCATION"), .data("login", result.login)]
                + Sheet(RevocationFacts.fields(result.outcome))
        }
        try invocation.emit(
            Sheet([
                .data("isComplete", report.isComplete), .data("pendingRevocations", left),
                .data("revocations", results),
            ]), text: invocation.text(Table(["REVOCATION", "AT THE PROVIDER"], results)))
        invocation.note("\(Count.of(report.results.count, "revocation")) tried, \(left) left")
        if left > 0, report.isComplete { invocation.hint("--all also tries what is not due yet") }
    }
}
