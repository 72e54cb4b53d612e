import ArgumentParser
import TokenVault

struct UserListCommand: VaultCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "List the users.")

    @Flag(help: "Only disabled users.")
    var disabled = false

    @Option(help: .init("Only those of this tenant.", valueName: "name"))
    var tenant: TenantName?

    @OptionGroup(title: GlobalOptions.title) var global: GlobalOptions

    func run(_ invocation: Invocation) async throws {
        try await VaultAccess(global, invocation).open { vault in
            var listing = Listing("users", UserFacts.headings, invocation)
            try await listing.appendAll { cursor in
                let page = try await vault.users(after: cursor, limit: Listing.pageSize)
                return (page.entries.filter(isWanted).map(UserFacts.sheet), page.next)
            }
            if listing.isEmpty {
                invocation.hint(
                    disabled || tenant != nil
                        ? "no user fits"
                        : "there is no user yet; log one in: vaultctl login begin --user ID --provider NAME")
            }
        }
    }

    /// Damaged rows are never hidden: what they were is unknown.
    private func isWanted(_ entry: UserEntry) -> Bool {
        guard case .user(let user) = entry else { return true }
        let isTheirs = tenant.map { Tenant.of(user.id)?.tenant == $0.tenant } ?? true
        return isTheirs && !(disabled && user.isEnabled)
    }
}
