import ArgumentParser
import TokenVault

struct OutboxListCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List what is still to be revoked, oldest first.")

    @OptionGroup var global: GlobalOptions

    func run(_ invocation: Invocation) async throws {
        try await VaultAccess(global, invocation).open { vault in
            var listing = Listing(
                "revocations", Table("REVOCATION", "PROVIDER", "TOKEN", "SINCE", "TRIES", "NEXT TRY"), invocation)
            var cursor: PendingRevocationPage.Cursor?
            repeat {
                let page = try vault.pendingRevocations(after: cursor, limit: Listing.pageSize)
                for entry in page.entries {
                    try listing.append(Self.json(entry), Self.row(entry, invocation))
                }
                try listing.endPage()
                cursor = page.next
            } while cursor != nil
            try listing.finish()
            invocation.hint(listing.isEmpty ? "nothing is left to be revoked" : "try again with: vaultctl outbox retry")
        }
    }

    private static func json(_ entry: PendingRevocationEntry) -> JSONValue {
        switch entry {
        case .pending(let revocation):
            .object([
                ("revocation", .string(revocation.id.description)),
                ("login", JSONValue(revocation.login?.description)), ("provider", JSONValue(revocation.provider)),
                ("token", .string(revocation.token.rawValue)), ("createdAt", Instant.json(revocation.createdAt)),
                ("attempts", .integer(revocation.attempts)), ("nextAttemptAt", Instant.json(revocation.nextAttemptAt)),
            ])
        case .damaged(let id, let problem):
            .object([("revocation", JSONValue(id?.description)), ("damaged", .string(problem))])
        }
    }

    private static func row(_ entry: PendingRevocationEntry, _ invocation: Invocation) -> [String] {
        switch entry {
        case .pending(let revocation):
            [
                revocation.id.description, revocation.provider ?? "(removed)",
                revocation.token == .refreshToken ? "refresh token" : "access token",
                Instant.relative(revocation.createdAt, now: invocation.now), String(revocation.attempts),
                revocation.nextAttemptAt <= invocation.now
                    ? "due" : Instant.relative(revocation.nextAttemptAt, now: invocation.now),
            ]
        case .damaged(let id, let problem):
            [id?.description ?? "(unreadable)", "damaged: \(problem)", "", "", "", ""]
        }
    }
}
