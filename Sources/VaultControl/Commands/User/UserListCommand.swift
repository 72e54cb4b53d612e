import ArgumentParser
import TokenVault

struct UserListCommand: VaultCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "List the users.")

    @Flag(help: "Only disabled users.")
    var disabled = false

    @Option(help: .init("Only those of this tenant.", valueName: "tenant"))
    var tenant: TenantName?

    @Flag(help: "Print how many there are.")
    var count = false

    @Option(help: .init("List at most this number.", valueName: "number"))
    var limit: Int?

    @OptionGroup(title: GlobalOptions.title) var global: GlobalOptions

    func validate() throws {
        guard limit.map({ $0 > 0 }) ?? true else { throw ValidationError("--limit must be 1 or more") }
        if count, limit != nil { throw ValidationError("--count and --limit cannot be combined") }
    }

    func run(_ invocation: Invocation) async throws {
        try await VaultAccess(global, invocation).open { vault in
            try await vault.require(tenant?.tenant)
            if count { return try await printCount(vault, invocation) }
            var listing = Listing("users", UserView.headings, invocation)
            var left = limit ?? .max
            try await listing.appendAll { cursor in
                let page = try await vault.userPage(after: cursor, limit: Listing.pageSize)
                let wanted = page.entries.filter(isWanted).prefix(left)
                left -= wanted.count
                return (wanted.map(UserView.record), left > 0 ? page.next : nil)
            }
            if listing.isEmpty {
                invocation.hint(
                    disabled || tenant != nil
                        ? "no user fits"
                        : "there is no user yet; log one in: vaultctl login begin --user ID --provider NAME")
            }
        }
    }

    private func printCount(_ vault: Vault, _ invocation: Invocation) async throws {
        var (users, damaged, cursor) = (0, 0, nil as String?)
        repeat {
            let page = try await vault.userPage(after: cursor, limit: Listing.pageSize)
            for entry in page.entries where isWanted(entry) {
                if case .user = entry { users += 1 } else { damaged += 1 }
            }
            cursor = page.next
        } while cursor != nil
        try invocation.emit(OutputRecord([Field("users", users), Field("damaged", damaged)]))
    }

    /// Damaged rows are never hidden: their former state is unknown.
    private func isWanted(_ entry: UserEntry) -> Bool {
        guard case .user(let user) = entry else { return true }
        let isTheirs = tenant.map { Tenant.of(user.id)?.tenant == $0.tenant } ?? true
        return isTheirs && !(disabled && user.isEnabled)
    }
}
