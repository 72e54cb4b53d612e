import ArgumentParser
import LoopbackRedirect
import OAuthClient
import TokenVault
import TokenVaultResources

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
        help: .init(
            "With --into: ask for this scope besides what was granted before, such as one that an API wants.",
            valueName: "scope"))
    var addScope: String?

    @Option(
        help: .init(
            "An API that the tokens are for (RFC 8707). Repeatable. Without --provider, the API itself says where to log in.",
            valueName: "url"))
    var resource: [String] = []

    @Flag(help: "Accept plain http to this machine, for an API of a development server.")
    var allowInsecureLoopback = false

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
            if let (_, name) = excluded.first(where: { $0.0 != nil }) {
                throw ValidationError("--into and \(name) cannot be combined")
            }
            if addScope != nil, scope != nil { throw ValidationError("--scope and --add-scope cannot be combined") }
            return
        }
        if addScope != nil { throw ValidationError("--add-scope needs --into") }
        if anyAccount { throw ValidationError("--any-account needs --into") }
        if user == nil { throw ValidationError("missing expected argument '--user <id>'") }
        guard provider == nil else { return }
        guard !resource.isEmpty else { throw ValidationError("missing expected argument '--provider <name>'") }
        guard resource.count == 1 else {
            throw ValidationError("an API that says where to log in stands alone: give --resource once, or --provider")
        }
    }

    /// The resource that is asked where to log in.
    var askedResource: String? { provider == nil && into == nil ? resource.first : nil }

    /// Begins a log-in whose callback comes to somewhere else.
    func begin(_ users: UserManager, redirectURI: String?) async throws -> AuthorizationRequest {
        // Of a resource, the URI may have a place for the provider's name.
        let own = askedResource == nil ? try redirectURI.map { try RedirectURI($0) } : nil
        return try await begin(users, client: try .vaultctl(redirectURI)) { _ in own }
    }

    /// Begins a log-in whose callback comes to this machine.
    ///
    /// - Parameter uri: Where to listen. With a port, a client that registers itself does so with this port; without one, for
    ///   every port (RFC 8252 §7.3), which not all servers understand.
    func begin(
        _ users: UserManager, at uri: LoopbackRedirectURI, _ listen: BrowserLogIn.Listen
    ) async throws -> AuthorizationRequest {
        try await begin(users, client: try .vaultctl(at: uri)) { provider in
            try await listen(provider.map { uri.ofProvider($0) } ?? uri)
        }
    }

    /// - Parameter redirectURI: Called with the provider, if it is one of a resource.
    private func begin(
        _ users: UserManager, client: ResourceClient, redirectURI: (Provider?) async throws -> RedirectURI?
    ) async throws -> AuthorizationRequest {
        let scope = try scope.map { try Scope($0, of: "--scope") }
        if let askedResource {
            let logIn = ResourceLogIn(
                userId: user ?? "", resource: askedResource, scope: scope, dpop: dpop, label: label,
                loginHint: loginHint, parameters: try parameters)
            let users = tenant.map { users.scoped(to: $0.tenant) } ?? users
            return try await users.beginLogIn(logIn, as: client, redirectURI: redirectURI)
        }
        if let into {
            let login = LoginRef.login(try await LoginSelection.id(into, in: users.vault, orUser: false))
            let known = try await users.resource(of: login)
            if scope == nil, addScope == nil, known.resource != nil {
                guard resource.isEmpty, variables.variable.isEmpty else {
                    throw Failure.usage(
                        "this login is for \(Printable.shortened(known.resource ?? "", to: 200)), and stays so",
                        hint:
                            "leave --resource and --variable out; for another API: vaultctl login open --user ID --resource "
                            + "URL")
                }
                let logIn = ResourceLogIn(
                    into: login, dpop: dpop, loginHint: loginHint, parameters: try parameters,
                    acceptsOtherAccount: anyAccount)
                return try await users.beginLogIn(logIn, as: client, redirectURI: redirectURI)
            }
            let provider = known.resource == nil ? nil : try await users.vault.provider(named: known.provider)
            return try await users.beginLogIn(
                LogInRequest(
                    into: login, redirectURI: try await redirectURI(provider), scope: scope, dpop: dpop,
                    loginHint: loginHint, parameters: try parameters, variables: try variables.values,
                    adding: try addScope.map { try Scope($0, of: "--add-scope") }, acceptsOtherAccount: anyAccount))
        }
        return try await users.beginLogIn(
            LogInRequest(
                userId: qualified(user ?? ""), provider: qualified(provider ?? ""),
                redirectURI: try await redirectURI(nil), scope: scope, dpop: dpop, label: label, loginHint: loginHint,
                parameters: try parameters, variables: try variables.values))
    }

    /// Warns of what this log-in may not be meant to do.
    func warn(in vault: Vault, _ invocation: Invocation) async throws {
        try await TenantLookalike.warn(of: user, tenant, mayBeNew: provider == nil, in: vault, invocation)
        guard let into, let id = try? await LoginSelection.id(into, in: vault),
            case .terminated(let reason)? = (try? await vault.login(id))?.state
        else { return }
        invocation.warn("this login is terminated as \(reason), and the log-in restores it")
    }

    /// The provider's name.
    func providerName(in vault: Vault) async throws -> String? {
        guard let into else { return provider.map { qualified($0) } }
        return try await vault.login(try LoginSelection.id(into, in: vault, orUser: false)).provider
    }

    /// Begins a log-in on another device, which needs no redirect.
    func beginDevice(_ users: UserManager, usesPKCE: Bool) async throws -> DeviceLogIn {
        if let askedResource {
            throw Failure.usage(
                "an API that says where to log in needs a browser log-in",
                hint: "use: vaultctl login open --user \(Printable.shortened(user ?? "ID")) --resource "
                    + Printable.shortened(askedResource) + (allowInsecureLoopback ? " --allow-insecure-loopback" : ""))
        }
        guard let user, let provider else {
            throw Failure.usage(
                "--into requires a browser log-in", hint: "use: vaultctl login open --into LOGIN, or login begin")
        }
        var parameters = try parameters
        if let loginHint { parameters.extra.append(FormParameter("login_hint", loginHint)) }
        return try await users.beginDeviceLogIn(
            LogInRequest(
                userId: qualified(user), provider: qualified(provider),
                scope: scope.map { try Scope($0, of: "--scope") }, dpop: dpop, label: label, parameters: parameters,
                variables: try variables.values), usesPKCE: usesPKCE)
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

extension ResourceClient {
    /// vaultctl as a client of the servers that resources name. Its user is the operator, who may know private addresses.
    static func vaultctl(_ redirectURI: String?) throws -> ResourceClient {
        var client = try ResourceClient(
            redirectURI: redirectURI ?? LoopbackRedirectURI.standard.text + "/{provider}", clientName: "vaultctl")
        client.allowsPrivateAddresses = true
        return client
    }

    /// The same, with callbacks to this machine: at a path for each server, or a code of one could be sent to another.
    static func vaultctl(at uri: LoopbackRedirectURI) throws -> ResourceClient {
        try vaultctl(uri.text + "/{provider}")
    }
}

extension LoopbackRedirectURI {
    /// What is registered at a provider, at the port of this one.
    func ofProvider(_ provider: Provider) -> LoopbackRedirectURI {
        guard let registered = provider.redirectURI.flatMap({ LoopbackRedirectURI($0.rawValue) }) else { return self }
        return port.map { registered.at(port: $0) } ?? registered
    }
}
