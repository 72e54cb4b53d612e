import ArgumentParser
import OAuthClient
import TokenVault

/// How a user logs in through the browser.
struct LogInOptions: ParsableArguments {
    @Option(
        name: .shortAndLong, help: .init("The user's id in your system; the user is created if new.", valueName: "id"))
    var user: String

    @Option(name: .shortAndLong, help: .init("The provider's name in the vault.", valueName: "name"))
    var provider: String

    @Option(help: .init("The scope to request, instead of the provider's own.", valueName: "scope"))
    var scope: String?

    @Option(help: .init("A label for the login, to tell several apart.", valueName: "text"))
    var label: String?

    @Option(help: .init("The account that the provider should suggest.", valueName: "name"))
    var loginHint: String?

    @Flag(inversion: .prefixedNo, help: "Bind the login to a DPoP key. By default, the provider's policy decides.")
    var dpop: Bool?

    @Option(
        help: .init("A resource that the tokens are for (RFC 8707). Repeatable.", valueName: "uri"))
    var resource: [String] = []

    @Option(help: .init("What the provider asks of the user: login, consent or select_account.", valueName: "text"))
    var prompt: String?

    @Option(help: .init("How recently the user must have authenticated, such as 5m.", valueName: "time"))
    var maxAge: TimeSpan?

    @Option(help: .init("A preferred authentication method (acr_values). Repeatable.", valueName: "name"))
    var acr: [String] = []

    @Option(
        help: .init(
            "Any other parameter of this provider, as NAME=VALUE. Repeatable.", valueName: "name=value"))
    var parameter: [String] = []

    func begin(_ users: UserManager, redirectURI: String?) async throws -> AuthorizationRequest {
        try await users.beginLogIn(
            userId: user, provider: provider, redirectURI: redirectURI.map { try RedirectURI($0) },
            scope: scope.map { try Scope($0) }, dpop: dpop, label: label,
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
                    throw .usage("a parameter is NAME=VALUE", hint: "for example: --parameter ui_locales=de")
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
