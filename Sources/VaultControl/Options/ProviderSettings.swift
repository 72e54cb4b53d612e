import ArgumentParser
import OAuthClient
import TokenVault

/// What can be said of a provider when it is added, and changed later.
struct ProviderSettings: ParsableArguments {
    @Option(
        help: .init("What is particular about this provider.", valueName: "name"),
        completion: .list(ProviderProfile.shipped.map(\.name)))
    var profile: String?

    @Option(help: .init("The same, from a file of your own.", valueName: "path"), completion: .file())
    var profileFile: String?

    @Option(help: .init("What a log-in asks for if it does not say.", valueName: "scope"))
    var scope: String?

    @Option(help: .init("Where the callback goes if a log-in does not say.", valueName: "url"))
    var redirectURI: String?

    @Option(
        help: .init("When logins are bound to a DPoP key: never, optional or required.", valueName: "policy"),
        completion: .list(DPoPPolicy.allCases.map(\.rawValue)), transform: DPoPPolicy.init(argument:))
    var dpop: DPoPPolicy?

    @Option(help: .init(valueName: "url"))
    var authorizationEndpoint: String?

    @Option(help: .init(valueName: "url"))
    var tokenEndpoint: String?

    @Option(help: .init(valueName: "url"))
    var revocationEndpoint: String?

    @Option(help: .init(valueName: "url"))
    var pushedAuthorizationEndpoint: String?

    @Option(help: .init(valueName: "url"))
    var introspectionEndpoint: String?
}

extension DPoPPolicy {
    init(argument: String) throws {
        guard let policy = DPoPPolicy(rawValue: argument) else {
            throw ValidationError("'\(argument)' is not one of never, optional, required")
        }
        self = policy
    }
}
