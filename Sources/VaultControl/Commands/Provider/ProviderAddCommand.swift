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
            With --profile, what is particular about a provider is known, and often its endpoints too; \
            `vaultctl provider profiles` lists them. A file of your own (docs/adding-a-provider.md) is sealed with the \
            provider, so that changing the file later changes nothing. \
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
            """
            none, client_secret_basic, client_secret_post or private_key_jwt. Without it: what the profile prefers, \
            else basic with a secret and none without.
            """,
            valueName: "method"))
    var clientAuth: String?

    @Option(
        help: .init("The client's private key in PEM, for private_key_jwt (P-256).", valueName: "path"),
        completion: .file())
    var clientKeyFile: String?

    @Option(help: .init("Which of the client's registered keys that is.", valueName: "kid"))
    var clientKeyID: String?

    @Option(
        help: .init(
            "A second client secret, for the time of an exchange. It never goes with a refresh token.",
            valueName: "path"),
        completion: .file())
    var secondClientSecretFile: String?

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
        completion: .list(DPoPPolicy.allCases.map(\.rawValue)),
        transform: { text in
            guard let policy = DPoPPolicy(rawValue: text) else {
                throw ValidationError("'\(text)' is not one of never, optional, required")
            }
            return policy
        })
    var dpop: DPoPPolicy?

    @Option(help: .init(valueName: "url"))
    var authorizationEndpoint: String?

    @Option(help: .init(valueName: "url"))
    var tokenEndpoint: String?

    @Option(help: .init(valueName: "url"))
    var revocationEndpoint: String?

    @Option(help: .init(valueName: "url"))
    var pushedAuthorizationEndpoint: String?

    @Flag(help: "Accept http:// on this machine, for development servers.")
    var allowInsecureLoopback = false

    @OptionGroup var global: GlobalOptions

    func run(_ invocation: Invocation) async throws {
        let access = VaultAccess(global, invocation)
        let chosen = try ChosenProfile(name: profile, file: profileFile)
        guard
            issuer != nil || tokenEndpoint != nil || chosen.profile.endpoints.token != nil
                || chosen.profile.endpoints.issuer != nil
        else {
            throw Failure.usage(
                "the provider's endpoints are not known",
                hint: "give --issuer URL to find them, or --token-endpoint and --authorization-endpoint")
        }
        let provider = try await access.open { vault, reader in
            let authentication = try authentication(&reader, invocation, chosen.profile)
            var registration = try await registration(authentication, access, chosen.profile)
            registration.profile = chosen.profile.name
            registration.profileDocument = chosen.document
            if let secondClientSecretFile {
                let text = try reader.read("Second client secret", from: .file(secondClientSecretFile))
                registration.alternativeSecrets = [try ClientSecret(text)]
            }
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

    private func authentication(
        _ reader: inout SecretReader, _ invocation: Invocation, _ profile: ProviderProfile
    ) throws -> ClientAuthentication {
        let source = try secret.source
        let method = clientAuth ?? preferredMethod(profile, hasSecret: source != nil)
        guard ["none", "client_secret_basic", "client_secret_post", "private_key_jwt"].contains(method) else {
            throw Failure.usage(
                "\(Printable.shortened(method)) is not a known client authentication",
                hint: "use none, client_secret_basic, client_secret_post or private_key_jwt")
        }
        guard method == "private_key_jwt" || clientKeyFile == nil else {
            throw Failure.usage("\(method) has no client key", hint: "leave out --client-key-file")
        }
        guard method != "private_key_jwt" else {
            guard let clientKeyFile, source == nil else {
                throw Failure.usage(
                    "private_key_jwt needs the client's key and no secret", hint: "use --client-key-file PATH")
            }
            let pem = try reader.read("Client key", from: .file(clientKeyFile))
            return .privateKeyJWT(try ClientAssertionKey(pem: pem, keyID: clientKeyID))
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

    /// What fits the secrets that were given: the profile's choice, where there is one.
    private func preferredMethod(_ profile: ProviderProfile, hasSecret: Bool) -> String {
        if clientKeyFile != nil { return "private_key_jwt" }
        let fitting = profile.authenticationMethods.filter { hasSecret == $0.hasPrefix("client_secret") }
        return fitting.first { $0 != "private_key_jwt" } ?? (hasSecret ? "client_secret_basic" : "none")
    }

    private func registration(
        _ authentication: ClientAuthentication, _ access: VaultAccess, _ profile: ProviderProfile
    ) async throws -> ProviderRegistration {
        let clientID = try ClientID(clientID)
        let known = profile.endpoints
        let policy = dpop ?? DPoPPolicy(profile)
        guard let issuer, tokenEndpoint == nil else {
            var registration = ProviderRegistration(
                name: name, issuer: issuer ?? known.issuer,
                authorizationEndpoint: authorizationEndpoint ?? known.authorization,
                tokenEndpoint: tokenEndpoint ?? known.token ?? "",
                revocationEndpoint: revocationEndpoint ?? known.revocation, clientID: clientID,
                authentication: authentication, scope: scope, redirectURI: redirectURI, dpop: policy,
                allowsInsecureLoopback: allowInsecureLoopback)
            registration.pushedAuthorizationEndpoint = pushedAuthorizationEndpoint ?? known.pushedAuthorization
            return registration
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
        try check(metadata, authentication, policy)
        var registration = ProviderRegistration(
            name: name, metadata: metadata, clientID: clientID, authentication: authentication, scope: scope,
            redirectURI: redirectURI, dpop: policy, allowsInsecureLoopback: allowInsecureLoopback)
        registration.authorizationEndpoint = authorizationEndpoint ?? registration.authorizationEndpoint
        registration.revocationEndpoint =
            revocationEndpoint ?? registration.revocationEndpoint ?? known.revocation
        registration.pushedAuthorizationEndpoint =
            pushedAuthorizationEndpoint ?? registration.pushedAuthorizationEndpoint
        return registration
    }

    /// Says at once what would otherwise fail at the first log-in.
    private func check(
        _ metadata: ServerMetadata, _ authentication: ClientAuthentication, _ dpop: DPoPPolicy
    ) throws {
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
