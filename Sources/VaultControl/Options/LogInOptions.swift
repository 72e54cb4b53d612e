import ArgumentParser
import OAuthClient
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

    @Option(
        help: .init("Where the tokens are to be used (RFC 8707). May be repeated.", valueName: "uri"))
    var resource: [String] = []

    @Option(help: .init("What the provider asks the user: login, consent, select_account.", valueName: "text"))
    var prompt: String?

    @Option(help: .init("How long ago the user may have authenticated at most, such as 5m.", valueName: "time"))
    var maxAge: TimeSpan?

    @Option(help: .init("A way to authenticate that is preferred (acr_values). May be repeated.", valueName: "name"))
    var acr: [String] = []

    @Option(
        help: .init(
            "Anything else that this provider knows, as NAME=VALUE. May be repeated.", valueName: "name=value"))
    var parameter: [String] = []

    func begin(_ users: UserManager, redirectURI: String?) async throws -> AuthorizationRequest {
        try await users.beginLogIn(
            userId: user, provider: provider, redirectURI: redirectURI, scope: scope, dpop: dpop, label: label,
            loginHint: loginHint, parameters: try parameters)
    }

    private var parameters: LogInParameters {
        get throws(Failure) {
            var parameters = LogInParameters()
            parameters.resources = resource
            parameters.prompt = prompt
            parameters.maximumAge = maxAge?.duration
            parameters.contextClasses = acr
            for text in parameter {
                let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                guard parts.count == 2, !parts[0].isEmpty else {
                    throw .usage("a parameter is NAME=VALUE", hint: "such as: --parameter ui_locales=de")
                }
                if parts[0] == "authorization_details" {
                    parameters.authorizationDetails = String(parts[1])
                } else {
                    parameters.extra.append(FormParameter(String(parts[0]), String(parts[1])))
                }
            }
            return parameters
        }
    }
}
