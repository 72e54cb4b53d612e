import ArgumentParser
import TokenVault

/// What a log-in through the browser is to be.
struct LogInOptions: ParsableArguments {
    @Option(name: .shortAndLong, help: .init("The user in your system; made if there is none yet.", valueName: "id"))
    var user: String

    @Option(name: .shortAndLong, help: .init("The provider's name in the vault.", valueName: "name"))
    var provider: String

    @Option(help: .init("What to ask for, instead of the provider's own scope.", valueName: "scope"))
    var scope: String?

    @Option(help: .init("What to call the login, to tell several apart.", valueName: "text"))
    var label: String?

    @Option(help: .init("Whom the provider should propose to log in.", valueName: "name"))
    var loginHint: String?

    @Flag(inversion: .prefixedNo, help: "Bind the login to a DPoP key; without either, the provider's policy decides.")
    var dpop: Bool?

    func begin(_ users: UserManager, redirectURI: String?) async throws -> AuthorizationRequest {
        try await users.beginLogIn(
            userId: user, provider: provider, redirectURI: redirectURI, scope: scope, dpop: dpop, label: label,
            loginHint: loginHint)
    }
}
