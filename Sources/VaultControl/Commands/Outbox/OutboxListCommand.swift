import ArgumentParser
import FoundationEssentials
import TokenVault

struct OutboxListCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List pending revocations, oldest first.")

    @OptionGroup(title: GlobalOptions.title) var global: GlobalOptions

    func run(_ invocation: Invocation) async throws {
        try await VaultAccess(global, invocation).open { vault in
            var listing = Listing(
                "revocations", ["REVOCATION", "PROVIDER", "TOKEN", "SINCE", "TRIES", "NEXT TRY"], invocation)
            var (count, unsendable) = (0, 0)
            try await listing.appendAll { cursor in
                let page = try await vault.pendingRevocations(after: cursor, limit: Listing.pageSize)
                count += page.entries.count
                unsendable += page.entries.count(where: \.isOfRemovedProvider)
                return (page.entries.map { Self.record($0, now: invocation.now) }, page.next)
            }
            if unsendable > 0 { invocation.note(OutboxWords.unsendable(unsendable)) }
            if count == 0 || unsendable < count {
                invocation.hint(count == 0 ? "no revocations are pending" : "try again: vaultctl outbox retry --all")
            }
        }
    }

    private static func record(_ entry: PendingRevocationEntry, now: Date) -> OutputRecord {
        switch entry {
        case .pending(let revocation):
            [
                Field("revocation", revocation.id).column("REVOCATION"),
                .data("login", revocation.login),
                Field("provider", revocation.provider).column(
                    "PROVIDER", revocation.provider ?? "(removed)", inPipe: revocation.provider),
                Field("token", revocation.token.rawValue)
                    .column(
                        "TOKEN", revocation.token == .refreshToken ? "refresh token" : "access token",
                        inPipe: revocation.token.rawValue),
                Field("createdAt", revocation.createdAt).column("SINCE"),
                Field("attempts", revocation.attempts).column("TRIES"),
                Field("nextAttemptAt", revocation.nextAttemptAt)
                    .column(
                        "NEXT TRY", revocation.nextAttemptAt <= now ? "due" : revocation.nextAttemptAt.json,
                        inPipe: revocation.nextAttemptAt),
            ]
        case .damaged(let id, let problem):
            [
                Field("revocation", id).column("REVOCATION", id?.description ?? "(unreadable)"),
                Field("damaged", problem).column("PROVIDER", "damaged: \(problem)"),
            ]
        }
    }
}
