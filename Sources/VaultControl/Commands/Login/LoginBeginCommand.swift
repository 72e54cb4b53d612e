import ArgumentParser
import TokenVault

struct LoginBeginCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "begin",
        abstract: "Begin a log-in, and print the URL for the user's browser.",
        discussion: """
            The vault keeps, sealed, what is needed to finish the log-in, so any process can do that:
            vaultctl login complete

            With --into LOGIN, the user logs in again into a login that is there: a dead one lives again under its id.

            Without --provider, --resource URL asks that API where to log in; see vaultctl login open --help
            """)

    @OptionGroup var logIn: LogInOptions

    @Option(help: .init("The redirect URI, instead of the provider's own.", valueName: "url"))
    var redirectURI: String?

    @OptionGroup(title: GlobalOptions.title) var global: GlobalOptions

    func run(_ invocation: Invocation) async throws {
        invocation.warnOfCommas(in: logIn.scope)
        invocation.warnOfPrompt(logIn.prompt)
        let options = UserManagerOptions(
            recoveryInterval: nil, retriesRevocationsInBackground: false,
            allowsInsecureLoopback: logIn.allowInsecureLoopback)
        let request = try await VaultAccess(global, invocation).manage(options) { users, _ in
            try await logIn.warn(in: users.vault, invocation)
            return try await logIn.begin(users, redirectURI: redirectURI)
        }
        try invocation.emit(
            OutputRecord([
                .data("url", request.url), .data("state", request.state), .data("expiresAt", request.expiresAt),
                .data("urlExpiresAt", request.urlExpiresAt),
            ]), text: Printable.escape(request.url) + "\n")
        if !request.url.contains("redirect_uri="), !request.url.contains("request_uri=") {
            let tenant = logIn.tenant.map { " --tenant \($0.tenant.name)" } ?? ""
            invocation.note(
                "note: no redirect URI is sent, which most providers refuse; set one: vaultctl provider update "
                    + "\(logIn.provider.map { Printable.argument($0) } ?? "NAME")\(tenant) --redirect-uri URL")
        }
        let isShort = request.urlExpiresAt < request.expiresAt
        let until = isShort ? " by \(Instant.words(request.urlExpiresAt, now: invocation.now))" : ""
        invocation.hint("open this URL in the user's browser\(until)")
        invocation.hint("then paste the URL at which the browser ends: vaultctl login complete")
        invocation.hint("this log-in can be completed until \(Instant.words(request.expiresAt, now: invocation.now))")
    }
}
