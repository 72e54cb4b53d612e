import ArgumentParser
import FoundationEssentials
import TokenVault

struct LoginListCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List logins, or count them.",
        discussion: """
            vaultctl login list --state dead --dead-for 30d
            vaultctl login list --provider acme --expires-before 24h
            vaultctl login list --provider acme --count
            vaultctl login list --limit 100 --after LOGIN

            Logins come in the order of their ids. A row that cannot be opened is always listed, because its state \
            is unknown.
            """)

    @OptionGroup var filter: LoginFilterOptions

    @Flag(help: "Print how many there are, by state and by provider.")
    var count = false

    @Option(help: .init("List at most this number.", valueName: "number"))
    var limit: Int?

    @Option(help: .init("Start after this login.", valueName: "login"))
    var after: String?

    @OptionGroup(title: GlobalOptions.title) var global: GlobalOptions

    func validate() throws {
        guard limit.map({ $0 > 0 }) ?? true else { throw ValidationError("--limit must be 1 or more") }
        if count, limit != nil || after != nil {
            throw ValidationError("--count cannot be combined with --limit or --after")
        }
    }

    func run(_ invocation: Invocation) async throws {
        if let after { try LoginSelection.check(after) }
        let filter = try filter.filter(now: invocation.now)
        try await VaultAccess(global, invocation).open { vault in
            try await vault.require(filter.tenant)
            try await vault.requireNames(of: filter)
            if count { return try await printCounts(of: filter, in: vault, invocation) }
            let first: LoginID? = if let after { try await LoginSelection.id(after, in: vault) } else { nil }
            try await printList(of: filter, after: first, in: vault, invocation)
        }
    }

    private func printList(
        of filter: LoginFilter, after first: LoginID?, in vault: Vault, _ invocation: Invocation
    ) async throws {
        var listing = Listing("logins", LoginView.headings, invocation)
        var (left, last) = (limit ?? .max, nil as LoginID?)
        try await listing.appendAll(naming: "next", if: limit != nil) { (cursor: LoginID?) in
            let size = cursor == nil ? Listing.firstPageSize : Listing.pageSize
            let page = try await vault.page(of: filter, after: cursor ?? first, limit: size)
            let wanted = page.filter { entry in
                if case .login(let login) = entry { filter.fits(login) } else { true }
            }.prefix(left)
            left -= wanted.count
            last = wanted.last?.id ?? last
            let goesOn = left > 0 && page.count == size
            return (wanted.map { LoginView.record($0, now: invocation.now) }, goesOn ? page.last?.id : nil)
        } next: {
            left == 0 ? last?.description : nil
        }
        if let last, left == 0 { invocation.hint("for those that follow: --after \(last)") }
        guard listing.isEmpty else { return }
        guard filter.isEmpty else { return self.filter.reportNothing(invocation) }
        invocation.hint("there is no login yet; log a user in: vaultctl login begin --user ID --provider NAME")
    }

    private func printCounts(of filter: LoginFilter, in vault: Vault, _ invocation: Invocation) async throws {
        let counts = try await vault.loginCounts(where: filter)
        let states = LoginStanding.allCases.map { Field($0.rawValue, counts.byStanding[$0] ?? 0) }
        let providers = counts.byProvider.filter { !$0.key.isEmpty }.sorted { $0.key < $1.key }.map { name, count in
            [.data("provider", name), .data("logins", count)] as OutputRecord
        }
        try invocation.emit(
            OutputRecord(
                [Field("logins", counts.logins)] + states + [
                    .data("byProvider", providers),
                    .data("withoutProvider", counts.byProvider[""] ?? 0), Field("damaged", counts.damaged),
                ]))
    }
}
