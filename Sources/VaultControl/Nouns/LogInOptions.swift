import ArgumentParser
import OAuthClient
import TokenVault

/// How a user logs in through the browser.
struct LogInOptions: ParsableArguments {
    @Option(
        name: .shortAndLong, help: .init("The user's id in your system; the user is created if new.", valueName: "id"))
    var user: String?

    @Option(name: .shortAndLong, help: .init("The provider's name in the vault.", valueName: "name"))
    var provider: String?

    @Option(help: .init("The tenant to which the user and the provider belong.", valueName: "tenant"))
    var tenant: TenantName?

    @Option(
        help: .init(
            "Log in again into this login, which keeps its id and label, instead of --user and --provider.",
            valueName: "login"))
    var into: String?

    @Flag(help: "With --into: accept another account at the provider than before.")
    var anyAccount = false

    @Option(help: .init("The scope to request, instead of the provider's own.", valueName: "scope"))
    var scope: String?

    @Option(help: .init("A label for the login, to distinguish several.", valueName: "text"))
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

    @OptionGroup var variables: VariableOptions

    func validate() throws {
        guard into == nil else {
            let excluded = [
                (user, "--user"), (provider, "--provider"), (label, "--label"), (tenant?.tenant.name, "--tenant"),
            ]
            guard let (_, name) = excluded.first(where: { $0.0 != nil }) else { return }
            throw ValidationError("--into and \(name) cannot be combined")
        }
        if anyAccount { throw ValidationError("--any-account needs --into") }
        if user == nil { throw ValidationError("missing expected argument '--user <id>'") }
        if provider == nil { throw ValidationError("missing expected argument '--provider <name>'") }
    }

    func begin(_ users: UserManager, redirectURI: String?) async throws -> AuthorizationRequest {
        let redirectURI = try redirectURI.map { try RedirectURI($0) }
        let scope = try scope.map { try Scope($0) }
        if let into {
            return try await users.beginLogIn(
                LogInRequest(
                    into: .login(try await LoginSelection.id(into, in: users.vault)), redirectURI: redirectURI,
                    scope: scope, dpop: dpop, loginHint: loginHint, parameters: try parameters,
                    variables: try variables.values, acceptsOtherAccount: anyAccount))
        }
        return try await users.beginLogIn(
            LogInRequest(
                userId: qualified(user ?? ""), provider: qualified(provider ?? ""), redirectURI: redirectURI,
                scope: scope, dpop: dpop, label: label, loginHint: loginHint, parameters: try parameters,
                variables: try variables.values))
    }

    /// The provider's name.
    func providerName(in vault: Vault) async throws -> String? {
        guard let into else { return provider.map { qualified($0) } }
        return try await vault.login(try LoginSelection.id(into, in: vault)).provider
    }

    /// Begins a log-in on another device, which needs no redirect.
    func beginDevice(_ users: UserManager, usesPKCE: Bool) async throws -> DeviceLogIn {
        guard let user, let provider else {
            throw Failure.usage(
                "--into requires a browser log-in", hint: "use: vaultctl login open --into LOGIN, or login begin")
        }
        var parameters = try parameters
        if let loginHint { parameters.extra.append(FormParameter("login_hint", loginHint)) }
        return try await users.beginDeviceLogIn(
            LogInRequest(
                userId: qualified(user), provider: qualified(provider), scope: scope.map { try Scope($0) }, dpop: dpop,
                label: label, parameters: parameters, variables: try variables.values), usesPKCE: usesPKCE)
    }

    /// The name in the vault.
    private func qualified(_ name: String) -> String { tenant?.tenant.qualify(name) ?? name }

    private var parameters: LogInParameters {
        get throws(Failure) {
            var parameters = LogInParameters()
            if let text = resource.first(where: { !ClientTokenOptions.isResource($0) }) {
                throw ClientTokenOptions.notResource(text)
            }
            parameters.resources = resource
            parameters.prompt = prompt
            parameters.maximumAge = maxAge?.duration
            parameters.contextClasses = acr
            for text in parameter {
                let parameter = try FormParameter(argument: text, example: "ui_locales=de")
                if parameter.name == "authorization_details" {
                    parameters.authorizationDetails = parameter.value
                } else {
                    parameters.extra.append(parameter)
                }
            }
            return parameters
        }
    }
}
