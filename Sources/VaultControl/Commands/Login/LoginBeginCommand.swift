import ArgumentParser
import TokenVault

struct LoginBeginCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "begin",
        abstract: "Begin a log-in: prints the URL for the user's browser.",
        discussion: """
            What is needed to finish the log-in is kept sealed in the vault, so that any process may do it:
            vaultctl login complete --callback-url URL
            """)

    @Option(name: .shortAndLong, help: .init("The user in your system; made if there is none yet.", valueName: "id"))
    var user: String

    @Option(name: .shortAndLong, help: .init("The provider's name in the vault.", valueName: "name"))
    var provider: String

    @Option(help: .init("What to ask for, instead of the provider's own scope.", valueName: "scope"))
    var scope: String?

    @Option(help: .init("Where the callback goes, instead of the provider's own.", valueName: "url"))
    var redirectURI: String?

    @Option(help: .init("What to call the login, to tell several apart.", valueName: "text"))
    var label: String?

    @Option(help: .init("Whom the provider should propose to log in.", valueName: "name"))
    var loginHint: String?

    @Flag(inversion: .prefixedNo, help: "Bind the login to a DPoP key; without either, the provider's policy decides.")
    var dpop: Bool?

    @OptionGroup var global: GlobalOptions

    func run(_ invocation: Invocation) async throws {
        let request = try await VaultAccess(global, invocation).manage { users in
            try await users.beginLogIn(
                userId: user, provider: provider, redirectURI: redirectURI, scope: scope, dpop: dpop, label: label,
                loginHint: loginHint)
        }
        try invocation.emit(
            json: .object([
                ("url", .string(request.url)), ("state", .string(request.state)),
                ("expiresAt", Instant.json(request.expiresAt)),
            ]),
            text: Printable.escape(request.url) + "\n")
        invocation.hint("open this URL in the user's browser")
        invocation.hint("then, with the URL that the browser ends at: vaultctl login complete --callback-url URL")
        invocation.hint("this log-in can be completed until \(Instant.words(request.expiresAt, now: invocation.now))")
    }
}
