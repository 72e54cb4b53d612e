import ArgumentParser
import TokenVault

struct LoginListCommand: VaultCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "List logins.")

    @Option(name: .shortAndLong, help: .init("Only those of this user.", valueName: "id"))
    var user: String?

    @Option(name: .shortAndLong, help: .init("Only those at this provider.", valueName: "name"))
    var provider: String?

    @OptionGroup var global: GlobalOptions

    func run(_ invocation: Invocation) async throws {
        try await VaultAccess(global, invocation).open { vault in
            if let user { _ = try await vault.user(user) }
            if let provider { _ = try await vault.provider(named: provider) }
            var listing = Listing("logins", LoginFacts.headings, invocation)
            try await listing.appendAll { last in
                let page = try await vault.logins(ofUser: user, after: last, limit: Listing.pageSize)
                let sheets = page.filter(isWanted).map { LoginFacts.sheet($0, now: invocation.now) }
                return (sheets, page.count == Listing.pageSize ? page.last.map(Self.id) : nil)
            }
            if listing.isEmpty {
                invocation.hint("there is no such login; log a user in: vaultctl login begin --user ID --provider NAME")
            }
        }
    }

    /// Damaged rows are never hidden: what they were is unknown.
    private func isWanted(_ entry: LoginEntry) -> Bool {
        guard let provider, case .login(let login) = entry else { return true }
        return login.provider == provider
    }

    private static func id(of entry: LoginEntry) -> LoginID {
        switch entry {
        case .login(let login): login.id
        case .damaged(let id, _): id
        }
    }
}
