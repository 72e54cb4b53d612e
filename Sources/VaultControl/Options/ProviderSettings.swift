import ArgumentParser
import FoundationEssentials
import OAuthClient
import TokenVault

/// Options shared by `provider add` and `provider update`.
struct ProviderSettings: ParsableArguments {
    @Option(
        help: .init("The profile that describes this provider's particulars.", valueName: "name"),
        completion: .list(ProviderProfile.shipped.map(\.name)))
    var profile: String?

    @Option(help: .init("A profile from a file of your own.", valueName: "path"), completion: .file())
    var profileFile: String?

    @Option(help: .init("The scope of log-ins that do not specify one.", valueName: "scope"))
    var scope: String?

    @Option(help: .init("The redirect URI of log-ins that do not specify one.", valueName: "url"))
    var redirectURI: String?

    @Option(
        help: .init("Whether logins are bound to a DPoP key: never, optional or required.", valueName: "policy"),
        completion: .list(DPoPPolicy.allCases.map(\.rawValue)), transform: DPoPPolicy.init(argument:))
    var dpop: DPoPPolicy?

    @Flag(
        inversion: .prefixedNo,
        help:
            "Whether access tokens are bound to the client's certificate (RFC 8705). By default: what the metadata says."
    )
    var certificateBoundTokens: Bool?

    @Option(help: .init("The authorization endpoint, if not from the metadata or the profile.", valueName: "url"))
    var authorizationEndpoint: String?

    @Option(help: .init("The token endpoint, if not from the metadata or the profile.", valueName: "url"))
    var tokenEndpoint: String?

    @Option(help: .init("The revocation endpoint (RFC 7009), likewise.", valueName: "url"))
    var revocationEndpoint: String?

    @Option(help: .init("The endpoint for pushed authorization requests (RFC 9126), likewise.", valueName: "url"))
    var pushedAuthorizationEndpoint: String?

    @Option(help: .init("The introspection endpoint (RFC 7662), likewise.", valueName: "url"))
    var introspectionEndpoint: String?

    @Option(help: .init("The device authorization endpoint (RFC 8628), likewise.", valueName: "url"))
    var deviceAuthorizationEndpoint: String?

    @Option(
        help: .init("The provider's JWKS URL, likewise.", valueName: "url"))
    var jwksURI: String?

    @Option(
        help: .init(
            "The audience of signed client assertions: issuer or token-endpoint.", valueName: "audience"),
        completion: .list(AssertionAudience.allCases.map(\.rawValue)), transform: AssertionAudience.init(argument:))
    var assertionAudience: AssertionAudience?

    @Option(
        help: .init(
            "How many logins it may end in a row before it is stopped; 0: any number. By default 8, or what is usual there.",
            valueName: "count"))
    var deathLimit: Int?

    @Option(
        help: .init(
            "For how many days the refresh token of a login without a key is kept, sealed, after the provider has "
                + "ended it, so that login revive works.", valueName: "days"))
    var keepEndedDays: Int?

    @Option(
        help: .init(
            "When the client secret ends, such as 2027-05-31 or 180d from now: doctor warns 30 days before.",
            valueName: "moment"))
    var clientSecretExpires: MomentOption?

    @Option(
        help: .init(
            "An API to which its tokens may be sent, such as https://api.acme.example or https://*.acme.example. "
                + "Repeatable; without any, every https URL is allowed.", valueName: "origin"))
    var apiOrigin: [String] = []

    func noteSecretEnd(_ further: FurtherSecretOptions, _ invocation: Invocation) {
        guard clientSecretExpires != nil, further.isGiven else { return }
        invocation.note("note: --client-secret-expires is the end of the first client secret, not of the second one")
    }

    /// When the client secret ends; nil if no option says so.
    func secretEnd(now: Date) throws(Failure) -> Date? {
        guard let end = clientSecretExpires?.date(now: now) else { return nil }
        guard end > now else {
            throw .usage(
                "--client-secret-expires is in the past: \(end.formatted(.iso8601))",
                hint:
                    "give the day on which the secret ends, such as 2027-05-31, or a length of time from now, such as "
                    + "180d")
        }
        guard end < now.addingTimeInterval(36_525 * 86_400) else {
            throw .usage(
                "--client-secret-expires is more than 100 years ahead: \(end.formatted(.iso8601))",
                hint: "leave it out for a secret that does not end")
        }
        return end
    }

    func validate() throws {
        if case .fromNow(let span)? = clientSecretExpires {
            try TimeSpan.requireLength(span, of: "--client-secret-expires", isZeroAllowed: true)
        }
        if let deathLimit, !(0...100_000).contains(deathLimit) {
            throw ValidationError("--death-limit must be between 0 and 100000")
        }
        if let keepEndedDays, !(1...365).contains(keepEndedDays) {
            throw ValidationError("--keep-ended-days must be between 1 and 365")
        }
        if let list = apiOrigin.first(where: { $0.contains(",") }) {
            let each = list.split(separator: ",").prefix(4).map { "--api-origin \(Printable.shortened(String($0)))" }
            throw ValidationError(
                "--api-origin takes one origin: repeat the option for each: \(each.joined(separator: " "))")
        }
        if redirectURI?.contains("*") == true {
            throw ValidationError("a redirect URI has no *: providers compare the whole URI")
        }
    }
}

extension DPoPPolicy {
    init(argument: String) throws {
        guard let policy = DPoPPolicy(rawValue: argument) else {
            throw ValidationError("'\(argument)' is not one of never, optional, required")
        }
        self = policy
    }
}

extension AssertionAudience {
    init(argument: String) throws {
        guard let audience = AssertionAudience(rawValue: argument) else {
            throw ValidationError("'\(argument)' is not one of issuer, token-endpoint")
        }
        self = audience
    }
}

/// The same as OAuth values.
struct ProviderValues {
    let authorizationEndpoint: EndpointURL?
    let tokenEndpoint: EndpointURL?
    let revocationEndpoint: EndpointURL?
    let pushedAuthorizationEndpoint: EndpointURL?
    let introspectionEndpoint: EndpointURL?
    let deviceAuthorizationEndpoint: EndpointURL?
    let jwksURI: EndpointURL?
    let scope: Scope?
    let redirectURI: RedirectURI?
    let apiOrigins: [APIOrigin]

    /// - Parameter client: the id that replaces `{client_id}` in the revocation endpoint.
    init(
        _ settings: ProviderSettings, of client: ClientID, allowsInsecureLoopback: Bool
    ) throws {
        func endpoint(_ text: String?, _ option: String) throws(OAuthValueError) -> EndpointURL? {
            guard let text else { return nil }
            do throws(OAuthValueError) {
                return try EndpointURL(text, allowsInsecureLoopback: allowsInsecureLoopback, allowsVariables: true)
            } catch {
                throw OAuthValueError(error.code, "endpoint URL of \(option)")
            }
        }
        authorizationEndpoint = try endpoint(settings.authorizationEndpoint, "--authorization-endpoint")
        tokenEndpoint = try endpoint(settings.tokenEndpoint, "--token-endpoint")
        revocationEndpoint = try endpoint(
            settings.revocationEndpoint?.replacing("{client_id}", with: client.rawValue), "--revocation-endpoint")
        pushedAuthorizationEndpoint = try endpoint(
            settings.pushedAuthorizationEndpoint, "--pushed-authorization-endpoint")
        introspectionEndpoint = try endpoint(settings.introspectionEndpoint, "--introspection-endpoint")
        deviceAuthorizationEndpoint = try endpoint(
            settings.deviceAuthorizationEndpoint, "--device-authorization-endpoint")
        jwksURI = try endpoint(settings.jwksURI, "--jwks-uri")
        scope = if let text = settings.scope { try Scope(text, of: "--scope") } else { nil }
        redirectURI = if let text = settings.redirectURI { try RedirectURI(text) } else { nil }
        apiOrigins = try settings.apiOrigin.map { text throws(OAuthValueError) in
            try APIOrigin(text, allowsInsecureLoopback: allowsInsecureLoopback)
        }
    }
}
