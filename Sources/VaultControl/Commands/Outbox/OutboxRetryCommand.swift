import ArgumentParser
import TokenVault
import VaultAdministration
import VaultStorage

struct OutboxRetryCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry",
        abstract: "Retry revocations that providers have not confirmed.",
        discussion: """
            vaultctl outbox retry               those that are due
            vaultctl outbox retry --all         also those that are not due yet, or wait for the provider's Retry-After
            vaultctl outbox retry REVOCATION    this one, now

            Exit code 3 means that some are left. A revocation not confirmed for 30 days is given up: its tokens are \
            destroyed here, and the audit log records that.
            """)

    @Argument(help: "Revocations from vaultctl outbox list, or their beginnings; by default, all that are due.")
    var revocations: [String] = []

    @Flag(help: "Also retry those that are not due yet.")
    var all = false

    @Option(help: "The most revocations to try.")
    var limit = 1_000

    @OptionGroup(title: GlobalOptions.title) var global: GlobalOptions

    func validate() throws {
        guard limit > 0 else { throw ValidationError("--limit must be 1 or more") }
        guard !all || revocations.isEmpty else {
            throw ValidationError("--all and specific revocations cannot be combined")
        }
    }

    func run(_ invocation: Invocation) async throws {
        for text in revocations {
            try ShortID.check(text, noun: "revocation id", of: "pending revocations: vaultctl outbox list")
        }
        let (report, left) = try await VaultAccess(global, invocation).manage { users in
            let ids = try await ids(in: users.vault)
            let selection: UserManager.RevocationSelection = ids.isEmpty ? (all ? .all : .due) : .only(ids)
            let report = try await users.retryRevocations(selection, limit: limit)
            return (report, try await users.vault.status().pendingRevocations)
        }
        try emit(report, left, invocation)
        let failed = report.results.filter { !$0.outcome.isSettled }
        let unsendable = failed.count { $0.outcome.isOfRemovedProvider }
        if unsendable < failed.count { invocation.warn("not every provider has confirmed; the vault keeps the rest") }
        if unsendable > 0 { invocation.warn(OutboxWords.unsendable(unsendable)) }
        guard failed.isEmpty, left == 0 else { throw ExitRequest(status: .partlyDone) }
    }

    private func ids(in vault: Vault) async throws -> [RevocationID] {
        if revocations.allSatisfy({ RevocationID($0) != nil }) { return revocations.compactMap { RevocationID($0) } }
        var (pending, cursor): ([RevocationID], PendingRevocationPage.Cursor?) = ([], nil)
        repeat {
            let page = try await vault.pendingRevocations(after: cursor, limit: Listing.pageSize)
            pending += page.entries.compactMap { entry in
                switch entry {
                case .pending(let revocation): revocation.id
                case .damaged(let id, _): id
                }
            }
            cursor = page.next
        } while cursor != nil
        return try revocations.map { text in
            try ShortID.find(
                text, among: pending, noun: "revocation", list: "vaultctl outbox list", missing: .unknownRevocation,
                id: { $0.description })
        }
    }

    private func emit(_ report: RevocationRetryReport, _ left: Int, _ invocation: Invocation) throws {
        let results = report.results.map { result -> OutputRecord in
            [Field("revocation", result.id).column("REVOCATION"), .data("login", result.login)]
                + OutputRecord(RevocationView.fields(result.outcome))
        }
        try invocation.emit(
            OutputRecord([
                .data("isComplete", report.isComplete && left == 0), .data("pendingRevocations", left),
                .data("revocations", results),
            ]), text: invocation.text(Table(["REVOCATION", "AT THE PROVIDER"], results)))
        if report.results.isEmpty, left > 0, !all, revocations.isEmpty {
            invocation.note("no revocation is due; \(left) left")
            invocation.advise("try those that are not due yet, too: --all; when they are: vaultctl outbox list")
            return
        }
        invocation.note("\(Count.of(report.results.count, "revocation")) tried, \(left) left")
        if left > 0, report.isComplete { invocation.hint("--all also tries those that are not due yet") }
    }
}
