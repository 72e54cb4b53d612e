import ArgumentParser
import OAuthClient
import TokenVault
import TokenVaultHTTP

struct ProviderAddCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Add a provider, by discovery or by its endpoints.",
        discussion: """
            vaultctl provider add acme --issuer https://login.acme.example --client-id 4711

            With --issuer, the endpoints come from the provider's metadata (RFC 8414, OpenID Connect Discovery). \
            Endpoints given by hand take precedence; without --issuer, --token-endpoint is needed. \
            A client secret is asked for where the client authentication needs one.
            """)

    @Argument(help: "The name under which the vault knows it.")
    var name: String

    @Option(help: .init("The issuer, exactly as the provider documents it.", valueName: "url"))
    var issuer: String?

    @Option(help: .init("This client's id at the provider.", valueName: "id"))
    var clientID: String

    @OptionGroup var secret: ClientSecretOptions

    @Option(
        help: .init(
            "none, client_secret_basic or client_secret_post. Without it: basic with a secret, none without.",
            valueName: "method"))
    var clientAuth: String?

    @Option(help: .init("What a log-in asks for if it does not say.", valueName: "scope"))
    var scope: String?

    @Option(help: .init("Where the callback goes if a log-in does not say.", valueName: "url"))
    var redirectURI: String?

    @Option(
        help: .init("When logins are bound to a DPoP key: never, optional or required.", valueName: "policy"),
        completion: .list(DPoPPolicy.allCases.map(\.rawValue)),
        transform: { text in
            guard let policy = DPoPPolicy(rawValue: text) else {
                throw ValidationError("'\(text)' is not one of never, optional, required")
            }
            return policy
        })
    var dpop: DPoPPolicy = .optional

    @Option(help: .init(valueName: "url"))
    var authorizationEndpoint: String?

    @Option(help: .init(valueName: "url"))
    var tokenEndpoint: String?

    @Option(help: .init(valueName: "url"))
    var revocationEndpoint: String?

    @Flag(help: "Accept http:// on this machine, for development servers.")
    var allowInsecureLoopback = false

    @OptionGroup var global: GlobalOptions

    func run(_ invocation: Invocation) async throws {
        let access = VaultAccess(global, invocation)
        guard issuer != nil || tokenEndpoint != nil else {
            throw Failure.usage(
                "the provider's endpoints are not known",
                hint: "give --issuer URL to find them, or --token-endpoint and --authorization-endpoint")
        }
        let provider = try await access.open { vault, reader in
            let authentication = try authentication(&reader, invocation)
            let registration = try await registration(authentication, access)
            do {
                return try await vault.addProvider(registration)
            } catch let error as VaultError where error.code == .conflict {
                throw Failure(
                    .usage, code: "providerExists", "there is already a provider \(Printable.shortened(name))",
                    hints: ["choose another name, or remove that one: vaultctl provider remove NAME"])
            }
        }
        try invocation.emit(json: ProviderFacts.json(provider), facts: ProviderFacts.facts(provider))
        if provider.revocationEndpoint == nil {
            invocation.note("note: the provider has no revocation endpoint, so a log-out cannot end its grants")
        }
        if provider.authorizationEndpoint != nil {
            invocation.hint(
                "next, log a user in: vaultctl login begin --user ID --provider \(Printable.escape(provider.name))")
        }
    }

    private func authentication(_ reader: inout SecretReader, _ invocation: Invocation) throws -> ClientAuthentication {
        let source = try secret.source
        let method = clientAuth ?? (source == nil ? "none" : "client_secret_basic")
        guard ["none", "client_secret_basic", "client_secret_post"].contains(method) else {
            throw Failure.usage(
                "\(Printable.shortened(method)) is not a known client authentication",
                hint: "use none, client_secret_basic or client_secret_post")
        }
        guard method != "none" else {
            guard source == nil else {
                throw Failure.usage("--client-auth none has no client secret", hint: "leave out one of them")
            }
            return .none
        }
        guard source != nil || invocation.console.inputIsTerminal else {
            throw Failure.usage(
                "\(method) needs the client's secret", hint: "use --client-secret-file PATH or --client-secret -")
        }
        let value = try ClientSecret(reader.read("Client secret", from: source ?? .prompt))
        return method == "client_secret_post" ? .clientSecretPost(value) : .clientSecretBasic(value)
    }

    private func registration(
        _ authentication: ClientAuthentication, _ access: VaultAccess
    ) async throws -> ProviderRegistration {
        let clientID = try ClientID(clientID)
        guard let issuer, tokenEndpoint == nil else {
            return ProviderRegistration(
                name: name, issuer: issuer, authorizationEndpoint: authorizationEndpoint,
                tokenEndpoint: tokenEndpoint ?? "", revocationEndpoint: revocationEndpoint, clientID: clientID,
                authentication: authentication, scope: scope, redirectURI: redirectURI, dpop: dpop,
                allowsInsecureLoopback: allowInsecureLoopback)
        }
        let transport = try access.makeTransport()
        let metadata: ServerMetadata
        do {
            metadata = try await Discovery.metadata(
                issuer: Issuer(issuer, allowsInsecureLoopback: allowInsecureLoopback), transport: transport,
                allowsInsecureLoopback: allowInsecureLoopback)
        } catch {
            await transport.shutdown()
            throw error
        }
        await transport.shutdown()
        try check(metadata, authentication)
        var registration = ProviderRegistration(
            name: name, metadata: metadata, clientID: clientID, authentication: authentication, scope: scope,
            redirectURI: redirectURI, dpop: dpop, allowsInsecureLoopback: allowInsecureLoopback)
        registration.authorizationEndpoint = authorizationEndpoint ?? registration.authorizationEndpoint
        registration.revocationEndpoint = revocationEndpoint ?? registration.revocationEndpoint
        return registration
    }

    /// Says at once what would otherwise fail at the first log-in.
    private func check(_ metadata: ServerMetadata, _ authentication: ClientAuthentication) throws {
        let methods = metadata.tokenEndpointAuthMethodsSupported
        if !methods.isEmpty, !methods.contains(authentication.methodName), authentication != .none {
            throw Failure.usage(
                "the provider does not take \(authentication.methodName)",
                hint: "it takes: \(Printable.shortened(methods.joined(separator: ", "), to: 200))")
        }
        if dpop == .required, !metadata.supportsDPoP {
            throw Failure.usage("the provider does not speak DPoP", hint: "leave out --dpop required")
        }
    }
}
