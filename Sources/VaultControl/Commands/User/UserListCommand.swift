import ArgumentParser
import TokenVault

struct UserListCommand: VaultCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "List the users.")

    @OptionGroup var global: GlobalOptions

    func run(_ invocation: Invocation) async throws {
        try await VaultAccess(global, invocation).open { vault in
            var listing = Listing("users", UserFacts.headings, invocation)
            try await listing.appendAll { cursor in
                let page = try await vault.users(after: cursor, limit: Listing.pageSize)
                return (page.entries.map(UserFacts.sheet), page.next)
            }
            if listing.isEmpty {
                invocation.hint("there is no user yet; log one in: vaultctl login begin --user ID --provider NAME")
            }
        }
    }
}
