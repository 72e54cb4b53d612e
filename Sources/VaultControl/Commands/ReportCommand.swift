import ArgumentParser
import FoundationEssentials
import TokenVault
import VaultAdministration

struct ReportCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "report",
        abstract: "List the logins that will be lost soon, and why.",
        discussion: """
            vaultctl report --dying 30d
            vaultctl report --dying 90d --provider acme --json

            A login is lost when its refresh token or its grant ends, or when it is not used for too long, as far as \
            the provider or its profile says when. The scheduler (vaultctl maintain) keeps logins from being lost by \
            disuse; when a grant ends, only a new log-in helps: vaultctl login open --into LOGIN

            Logins that are not renewed as things stand are lost with their access token: those without a refresh \
            token, those that are held, and those that their provider refuses to renew.
            """)

    @Option(help: .init("Those that will be lost within this time, such as 30d.", valueName: "time"))
    var dying: TimeSpan = .init(.seconds(30 * 86_400))

    @OptionGroup var filter: LoginFilterOptions

    @OptionGroup(title: GlobalOptions.title) var global: GlobalOptions

    private static let headings = ["LOGIN", "USER", "PROVIDER", "LABEL", "LOST", "WHY"]

    func validate() throws { try TimeSpan.requireLength(dying, of: "--dying") }

    private func requireLiving() throws(Failure) {
        let ended = filter.state.map(\.standing).first { [.dead, .terminated].contains($0) }
        guard ended == nil, filter.deadFor == nil else {
            throw .usage(
                "a report lists the logins that will be lost, and not those that are",
                hint: "these are listed by: vaultctl login list --state \((ended ?? .dead).rawValue)")
        }
    }

    func run(_ invocation: Invocation) async throws {
        try requireLiving()
        let wanted = try filter.filter(now: invocation.now)
        try await VaultAccess(global, invocation).open { vault in
            try await vault.require(wanted.tenant)
            let endings = try await vault.endings(within: dying.duration, where: wanted)
            var listing = Listing("endings", Self.headings, invocation)
            for ending in endings { try listing.append(Self.record(ending)) }
            try listing.finish()
            guard endings.isEmpty else { return }
            if filter.label != nil || filter.labelPrefix != nil || !filter.metadata.isEmpty {
                filter.reportNothing(invocation)
            } else {
                let end = invocation.now.addingTimeInterval(Double(dying.duration.components.seconds))
                invocation.hint("no login is known to be lost by \(Instant.words(end, now: invocation.now))")
            }
        }
    }

    private static func record(_ ending: LoginEnding) -> OutputRecord {
        [
            Field("login", ending.login.id).column("LOGIN"), Field("user", ending.login.userId).column("USER"),
            Field("provider", ending.login.provider).column("PROVIDER"),
            Field("label", ending.login.label).column("LABEL"), Field("at", ending.date).column("LOST"),
            Field("cause", ending.cause.rawValue).column("WHY", words(ending.cause), inPipe: ending.cause.rawValue),
        ]
    }

    private static func words(_ cause: LoginEnding.Cause) -> String {
        switch cause {
        case .refreshTokenExpires: "the refresh token expires"
        case .disuse: "not used for too long"
        case .grantExpires: "the grant ends: a new log-in is needed"
        case .notRenewable: "there is no refresh token to renew it with"
        case .refused: "the provider refuses to renew it"
        case .held: "it is held, and not renewed"
        case .contested: "another system renews it, too"
        }
    }
}
