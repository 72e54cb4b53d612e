import ArgumentParser
import TokenVault

struct UserListCommand: VaultCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "List the users.")

    @OptionGroup var global: GlobalOptions

    func run(_ invocation: Invocation) async throws {
        try await VaultAccess(global, invocation).open { vault in
            var listing = Listing("users", Table("USER", "STATUS", "LOGINS", "SINCE"), invocation)
            var cursor: String?
            repeat {
                let page = try vault.users(after: cursor, limit: Listing.pageSize)
                for entry in page.entries {
                    try listing.append(Self.json(entry), Self.row(entry, invocation))
                }
                try listing.endPage()
                cursor = page.next
            } while cursor != nil
            try listing.finish()
            if listing.isEmpty {
                invocation.hint("there is no user yet: vaultctl login begin --user ID --provider NAME")
            }
        }
    }

    static func json(_ entry: UserEntry) -> JSONValue {
        switch entry {
        case .user(let user): UserFacts.json(user)
        case .damaged(let handle, let problem):
            .object([("handle", .string(handle)), ("damaged", .string(problem))])
        }
    }

    private static func row(_ entry: UserEntry, _ invocation: Invocation) -> [String] {
        switch entry {
        case .user(let user):
            [
                user.id, user.isEnabled ? "enabled" : "disabled", String(user.logins.count),
                Instant.relative(user.createdAt, now: invocation.now),
            ]
        case .damaged(let handle, let problem):
            ["(\(handle))", "damaged: \(problem)", "", ""]
        }
    }
}
