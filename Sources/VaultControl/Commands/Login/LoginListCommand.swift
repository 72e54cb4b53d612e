import ArgumentParser
import FoundationEssentials
import TokenVault

struct LoginListCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List logins.",
        discussion: """
            vaultctl login list --state dead
            vaultctl login list --provider acme --expires-before 24h
            vaultctl login list --limit 100 --after LOGIN

            Logins come in the order of their ids. A row that cannot be opened is listed whatever you choose, because \
            what it was is unknown.
            """)

    @Option(name: .shortAndLong, help: .init("Only those of this user.", valueName: "id"))
    var user: String?

    @Option(name: .shortAndLong, help: .init("Only those at this provider.", valueName: "name"))
    var provider: String?

    @Option(
        help: .init(
            "Only those in this state: \(LoginStanding.allCases.map(\.rawValue).joined(separator: ", ")). Repeatable.",
            valueName: "state"))
    var state: [LoginStanding] = []

    @Option(
        help: .init(
            "Only those whose access token expires before then: 24h from now, or 2026-11-21T03:15:00Z.",
            valueName: "time"))
    var expiresBefore: MomentOption?

    @Option(help: .init("Only those with this label.", valueName: "text"))
    var label: String?

    @Option(help: .init("List so many at most.", valueName: "number"))
    var limit: Int?

    @Option(help: .init("Begin behind this login.", valueName: "login"))
    var after: String?

    @OptionGroup(title: GlobalOptions.title) var global: GlobalOptions

    func validate() throws {
        guard limit.map({ $0 > 0 }) ?? true else { throw ValidationError("--limit must be 1 or more") }
    }

    func run(_ invocation: Invocation) async throws {
        let first = try after.map { try LoginSelection.id($0) }
        let deadline = expiresBefore?.date(now: invocation.now)
        try await VaultAccess(global, invocation).open { vault in
            if let user { _ = try await vault.user(user) }
            if let provider { _ = try await vault.provider(named: provider) }
            var listing = Listing("logins", LoginFacts.headings, invocation)
            var (left, last) = (limit ?? .max, nil as LoginID?)
            try await listing.appendAll(naming: "next", if: limit != nil) { cursor in
                let page = try await vault.logins(ofUser: user, after: cursor ?? first, limit: Listing.pageSize)
                let wanted = page.filter { isWanted($0, deadline) }.prefix(left)
                left -= wanted.count
                last = wanted.last.map(Self.id) ?? last
                let goesOn = left > 0 && page.count == Listing.pageSize
                return (wanted.map { LoginFacts.sheet($0, now: invocation.now) }, goesOn ? page.last.map(Self.id) : nil)
            } next: {
                left == 0 ? last?.description : nil
            }
            if let last, left == 0 { invocation.hint("for those that follow: --after \(last)") }
            if listing.isEmpty {
                invocation.hint("there is no such login; log a user in: vaultctl login begin --user ID --provider NAME")
            }
        }
    }

    private func isWanted(_ entry: LoginEntry, _ deadline: Date?) -> Bool {
        guard case .login(let login) = entry else { return true }
        return (provider == nil || login.provider == provider) && (label == nil || login.label == label)
            && (state.isEmpty || state.contains(LoginStanding(login)))
            && deadline.map { deadline in login.expiresAt.map { $0 < deadline } ?? false } ?? true
    }

    private static func id(of entry: LoginEntry) -> LoginID {
        switch entry {
        case .login(let login): login.id
        case .damaged(let id, _): id
        }
    }
}
