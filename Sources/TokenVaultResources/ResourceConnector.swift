import OAuthClient
import TokenVault
import VaultAdministration
import VaultStorage

/// Goes from a resource to a log-in: policy, the resource's metadata, the server's metadata, a client there.
struct ResourceConnector {
    let users: UserManager
    let client: ResourceClient

    private var transport: any HTTPTransport { users.context.transport }
    private var allowsLoopback: Bool { users.context.allowsInsecureLoopback }

    func begin(
        _ logIn: ResourceLogIn, _ redirectURI: (Provider) async throws -> RedirectURI?
    ) async throws -> AuthorizationRequest {
        try users.vault.requireOpen()
        switch logIn.subject {
        case .user(let userId):
            try await users.requireMayLogIn(userId)
            let found = try await find(try identifier(logIn.resource ?? ""), refusal: logIn.refusal)
            let provider = try await provider(of: found)
            var request = LogInRequest(
                userId: userId, provider: provider.name, redirectURI: try await redirect(provider, redirectURI),
                scope: try logIn.scope ?? scope(found, provider),
                dpop: found.metadata.requiresDPoP ? true : logIn.dpop, label: logIn.label,
                loginHint: logIn.loginHint, parameters: logIn.parameters, context: logIn.context)
            request.resource = found.metadata.name
            return try await users.beginLogIn(request)
        case .login(let login, let acceptsOtherAccount):
            return try await begin(into: login, acceptsOtherAccount, logIn, redirectURI)
        }
    }

    private func begin(
        into login: LoginRef, _ acceptsOtherAccount: Bool, _ logIn: ResourceLogIn,
        _ redirectURI: (Provider) async throws -> RedirectURI?
    ) async throws -> AuthorizationRequest {
        let known = try await users.resource(of: login)
        guard let name = known.resource else {
            throw VaultError(
                .invalidArgument, "this login is for no resource of its own",
                hint: "log in again by its provider: vaultctl login open --into LOGIN")
        }
        let resource = try identifier(name)
        let found: Found
        do {
            found = try await look(at: resource, refusal: logIn.refusal)
        } catch let error as ResourceError {
            // It no longer says that it is what the user logged in for.
            guard error.code == .otherResource || error.code == .noServer else { throw VaultError(error) }
            throw try await moved(login)
        }
        let issuers = found.metadata.authorizationServers.map(\.rawValue)
        guard found.metadata.resource == resource, let issuer = known.issuer, issuers.contains(issuer) else {
            throw try await moved(login)
        }
        // What the resource merely supports is not asked for: the user has decided once.
        let scope = try scope(of: (known.scope?.tokens ?? []) + (found.challenge?.tokens ?? [])) ?? Scope(tokens: [])
        let provider = try await users.vault.provider(named: known.provider, of: users.tenant)
        var request = LogInRequest(
            into: login, redirectURI: try await redirect(provider, redirectURI), scope: scope, dpop: logIn.dpop,
            loginHint: logIn.loginHint, parameters: logIn.parameters, context: logIn.context,
            acceptsOtherAccount: acceptsOtherAccount)
        request.resource = name
        return try await users.beginLogIn(request)
    }

    private func moved(_ login: LoginRef) async throws -> VaultError {
        try await users.noteMoved(login)
        return VaultError(
            .protocolViolation,
            "the resource names another authorization server, or another name, than when the user logged in",
            hint: "no token of this login goes there: if the change is meant, begin a new login for the resource, and "
                + "end this one")
    }

    /// Nil: that of the provider.
    private func redirect(
        _ provider: Provider, _ own: (Provider) async throws -> RedirectURI?
    ) async throws -> RedirectURI? {
        if let own = try await own(provider) { return own }
        return provider.redirectURI == nil ? try redirectURI(for: provider.name) : nil
    }

    // MARK: Policy

    private func identifier(_ text: String) throws -> ResourceIdentifier {
        do throws(OAuthValueError) {
            return try ResourceIdentifier(text, allowsInsecureLoopback: allowsLoopback)
        } catch {
            throw VaultError(
                .invalidArgument, error.description,
                hint: error.code == .insecure
                    ? "the API must be at https; plain http to this machine is for development: --allow-insecure-loopback"
                    : "give the API's whole address, percent-encoded, without user and fragment: https://notes.example/mcp"
            )
        }
    }

    private func endpoint(_ url: String) throws -> EndpointURL {
        try VaultError.translatingValues { try EndpointURL(url, allowsInsecureLoopback: allowsLoopback) }
    }

    private static func isAllowed(_ url: EndpointURL, among allowed: [APIOrigin]) -> Bool {
        allowed.isEmpty || allowed.contains { $0.covers(url) }
    }

    /// Refuses an address that the service does not let its users bring, before anything is sent.
    private func requireAllowed(_ url: String, among allowed: [APIOrigin], _ kind: String) throws {
        let url = try endpoint(url)
        guard Self.isAllowed(url, among: allowed) else {
            throw VaultError(.invalidArgument, "\(kind) is none of those that this service allows: \(url.origin)")
        }
        guard !client.allowsPrivateAddresses, !(allowsLoopback && url.isLoopback) else { return }
        guard !transport.mayReachPrivateAddresses else {
            throw VaultError(
                .invalidArgument, "this transport would ask private addresses, which a user could name",
                hint:
                    "AsyncHTTPTransport(options: .init(deniesAddress: AsyncHTTPTransport.isSpecialPurpose)); or, where "
                    + "users are trusted, ResourceClient.allowsPrivateAddresses")
        }
    }

    // MARK: The resource

    private struct Found {
        let metadata: ResourceMetadata
        /// What the resource wants of this request.
        let challenge: Scope?

        /// What a first log-in asks for.
        var scope: Scope? {
            if let challenge { return challenge }
            return metadata.scopesSupported.isEmpty ? nil : try? Scope(tokens: metadata.scopesSupported)
        }
    }

    private func find(_ resource: ResourceIdentifier, refusal: HTTPResponse?) async throws -> Found {
        do { return try await look(at: resource, refusal: refusal) } catch let error as ResourceError {
            throw VaultError(error)
        }
    }

    private func look(at resource: ResourceIdentifier, refusal: HTTPResponse?) async throws -> Found {
        try requireAllowed(resource.rawValue, among: client.allowedResources, "the resource")
        let challenge: ResourceDiscovery.Challenge
        if let refusal {
            challenge = ResourceDiscovery.Challenge(refusal)
        } else {
            challenge = try await ResourceDiscovery.challenge(of: resource, transport: transport)
        }
        let metadata = try await ResourceDiscovery.metadata(
            of: resource, challenge, transport: transport, allowsInsecureLoopback: allowsLoopback)
        return Found(metadata: metadata, challenge: challenge.scope)
    }

    // MARK: The server, and our client there

    /// The provider of the resource's server: one that the vault has, or else a new one.
    private func provider(of found: Found) async throws -> Provider {
        let servers = found.metadata.authorizationServers
        let allowed = try servers.filter { Self.isAllowed(try endpoint($0.rawValue), among: client.allowedIssuers) }
        let known = try await users.providers()
        for server in allowed {
            guard let provider = known.first(where: { $0.issuer == server }) else { continue }
            try requireAllowed(found.metadata.resource, by: provider)
            return provider
        }
        let server = allowed.first ?? servers[0]
        try requireAllowed(server.rawValue, among: client.allowedIssuers, "the authorization server")
        let metadata = try await metadata(of: server)
        guard metadata.supportsPKCE else {
            throw VaultError(
                .protocolViolation, "the resource's authorization server does not say that it supports PKCE with S256",
                hint: "RFC 9700 demands it; add the provider by hand if you know that it does")
        }
        guard metadata.authorizationEndpoint != nil else {
            throw VaultError(.protocolViolation, "the resource's authorization server has no authorization endpoint")
        }
        let dpop: DPoPPolicy = found.metadata.requiresDPoP ? .required : .optional
        guard !found.metadata.requiresDPoP || metadata.supportsDPoP else {
            throw VaultError(
                .protocolViolation,
                "the resource takes only tokens that are bound by DPoP, which its server does not give")
        }
        return try await add(name(for: server, besides: known), server, metadata, found, dpop)
    }

    private func metadata(of server: Issuer) async throws -> ServerMetadata {
        do { return try await users.metadata(of: server) } catch let error as VaultError {
            throw VaultError(
                error.code, "the resource's authorization server, \(server.rawValue): \(error.message)",
                hint: error.code == .network ? nil : error.hint)
        }
    }

    /// A client that an operator has added is for the operator's own resources: a stranger's could otherwise have tokens of it,
    /// from a server that gives the same ones for every resource.
    private func requireAllowed(_ resource: ResourceIdentifier, by provider: Provider) throws {
        let url = try endpoint(resource.rawValue)
        let isOwn = provider.apiOrigins.contains { $0.covers(url) }
        let isMeant = provider.apiOrigins.isEmpty && (provider.isOfResources || !client.allowedResources.isEmpty)
        guard !isOwn, !isMeant else { return }
        throw VaultError(
            .originNotAllowed,
            "the resource names the server of a provider of this vault, whose tokens are not for it: "
                + provider.name,
            hint: "if they are: vaultctl provider update \(provider.name) --api-origin \(resource.origin)")
    }

    private static let offlineAccess = "offline_access"
    private static let mostScopes = 64

    /// All that the client may ask for, since many servers let a client ask only for what it has registered: what the resource
    /// and the server know. The first resource of a server does not decide for the others.
    private func clientScope(_ found: Found, _ metadata: ServerMetadata) throws -> Scope? {
        try scope(
            of: (found.scope?.tokens ?? []) + found.metadata.scopesSupported
                + metadata.scopesSupported.prefix(Self.mostScopes))
    }

    /// What a log-in by the provider's name asks for. With `offline_access` where the server has it, since a login without a
    /// refresh token ends with its first token.
    private func defaultScope(_ found: Found, _ metadata: ServerMetadata) throws -> Scope? {
        var tokens = found.scope?.tokens ?? []
        if metadata.scopesSupported.contains(Self.offlineAccess) { tokens.append(Self.offlineAccess) }
        return try scope(of: tokens)
    }

    /// What a log-in asks for. Nothing by name if the resource names nothing, whatever other resources of the server want.
    private func scope(_ found: Found, _ provider: Provider) throws -> Scope {
        var tokens = found.scope?.tokens ?? []
        if !tokens.isEmpty, provider.scope?.tokens.contains(Self.offlineAccess) == true {
            tokens.append(Self.offlineAccess)
        }
        return try scope(of: tokens) ?? Scope(tokens: [])
    }

    /// Nil: nothing by name.
    private func scope(of tokens: [String]) throws -> Scope? {
        tokens.isEmpty ? nil : try VaultError.translatingValues { try Scope(tokens: tokens) }
    }

    /// After the server's host: for a person who looks at the vault.
    private func name(for server: Issuer, besides known: [Provider]) -> String {
        let place = server.rawValue.drop { $0 != "/" }.drop { $0 == "/" }
        let name = String((place.hasSuffix("/") ? place.dropLast() : place).prefix(100))
        let names = Set(known.map(\.name))
        var (free, number) = (name, 2)
        while names.contains(free) { (free, number) = ("\(name)-\(number)", number + 1) }
        return free
    }

    private func redirectURI(for provider: String) throws -> RedirectURI {
        let segment = String(
            provider.map { $0.isASCII && ($0.isLetter || $0.isNumber || "-._".contains($0)) ? $0 : "-" })
        return try VaultError.translatingValues {
            try RedirectURI(client.redirectURI.replacing("{provider}", with: segment))
        }
    }

    private func add(
        _ name: String, _ server: Issuer, _ metadata: ServerMetadata, _ found: Found, _ dpop: DPoPPolicy
    ) async throws -> Provider {
        let (redirectURI, scope) = (try redirectURI(for: name), try defaultScope(found, metadata))
        do {
            if let url = client.documentURL, metadata.clientIDMetadataDocumentSupported {
                var registration = ProviderRegistration(
                    name: name, metadata: metadata, clientID: try VaultError.translatingValues { try ClientID(url) },
                    scope: scope, redirectURI: redirectURI, dpop: dpop)
                registration.isOfResources = true
                return try await users.vault.addProvider(registration, of: users.tenant)
            }
            guard client.registersItself, metadata.registrationEndpoint != nil else {
                throw VaultError(
                    .invalidArgument,
                    "this service is no client of the resource's server, \(server.rawValue), and cannot become "
                        + "one by itself",
                    hint:
                        "register a client there, and add the provider with its id: vaultctl provider add NAME --issuer "
                        + "\(server.rawValue) --client-id ID")
            }
            var registration = ClientRegistration(
                redirectURIs: [redirectURI], authentication: .none, clientName: client.clientName,
                scope: try clientScope(found, metadata), dpop: dpop)
            (registration.logInScope, registration.isOfResources) = (scope, true)
            let methods = metadata.tokenEndpointAuthMethodsSupported
            if !methods.contains("none") {
                // Servers that look for the client's id in the form do so whatever the method is.
                registration.authentication =
                    methods.contains("client_secret_post") ? .clientSecretPost : .clientSecretBasic
            }
            _ = try await users.registerProvider(name, of: users.tenant, metadata, registration)
            return try await users.vault.provider(named: name, of: users.tenant)
        } catch let error as VaultError where error.code == .conflict {
            // Another process was quicker.
            if let provider = try await users.providers().first(where: { $0.issuer == server }) { return provider }
            throw error
        }
    }
}

extension VaultError {
    /// The error for a resource that does not say where to log in.
    fileprivate init(_ error: ResourceError) {
        if error.transportError?.code == .refused {
            self.init(.invalidArgument, "the resource is at an address that this service asks nothing")
            return
        }
        switch error.code {
        case .unreachable: self.init(error.status == nil ? .network : .tryLater, error.description)
        case .notFound:
            self.init(
                .invalidArgument, error.description,
                hint: "is this the whole address of the API? Otherwise log in by its provider: --provider NAME")
        default: self.init(.protocolViolation, error.description)
        }
    }
}
