public import FoundationEssentials
public import HTTPTypes
import OAuthClient
import VaultStorage

extension UserManager {
    /// A request for an API with a good access token of this login.
    ///
    /// ```swift
    /// let request = HTTPRequest(method: .get, scheme: "https", authority: "api.example", path: "/me")
    /// let authorized = try await users.authorize(request, for: .user("alice"))
    /// let response = try await send(authorized.request)
    /// let outcome = await authorized.outcome(of: response)
    /// ```
    ///
    /// Authorize each request, repeats included. A request that must not carry a token fails before a token is fetched.
    ///
    /// - Parameters:
    ///   - request: The request to send.
    ///   - login: Whose token it carries.
    ///   - tokenRequest: The purpose of the token.
    ///   - baseURL: For a request that has only a path, as generated clients give it to their middlewares: it is sent
    ///     to this URL, whose path comes before its own. Scheme and authority of the request do not count then.
    /// - Throws: ``VaultError``, ``VaultError/Code/invalidArgument`` for a URL that is not `https`, unless it is on
    ///   this machine and the transport sends such requests; ``VaultError/Code/originNotAllowed``
    ///   for one that is not among the provider's ``ProviderRegistration/apiOrigins``; or `CancellationError`.
    public func authorize(
        _ request: HTTPRequest, for login: LoginRef, _ tokenRequest: TokenRequest = TokenRequest(), baseURL: URL? = nil
    ) async throws -> AuthorizedRequest {
        try await authorized(request, for: login, tokenRequest, baseURL: baseURL).request
    }

    /// The same, together with its token.
    package func authorized(
        _ request: HTTPRequest, for login: LoginRef, _ tokenRequest: TokenRequest, baseURL: URL? = nil
    ) async throws -> (request: AuthorizedRequest, token: VaultToken) {
        let target = try target(of: request, baseURL)
        let (token, key) = try await tokenAndKey(for: login, tokenRequest, to: target)
        let presented = PresentedToken(token)
        let carrying = try await authorized(request, to: target, with: presented, key: key)
        return (AuthorizedRequest(carrying, to: target, presented, of: token, self), token)
    }

    /// Authorizes a request with a given token. See ``authorize(_:for:_:baseURL:)``.
    public func authorize(
        _ request: HTTPRequest, with token: VaultToken, baseURL: URL? = nil
    ) async throws -> AuthorizedRequest {
        try await authorized(request, to: target(of: request, baseURL), PresentedToken(token), of: token)
    }

    /// Authorizes a request with a token of the client itself. See ``authorize(_:for:_:baseURL:)``.
    public func authorize(
        _ request: HTTPRequest, withClientToken token: ClientToken, baseURL: URL? = nil
    ) async throws -> AuthorizedRequest {
        try await authorized(request, to: target(of: request, baseURL), PresentedToken(token))
    }

    func authorized(
        _ request: HTTPRequest, to target: EndpointURL, _ presented: PresentedToken, of token: VaultToken? = nil
    ) async throws -> AuthorizedRequest {
        try await requireAllowed(target, by: presented.provider, for: presented.resource)
        let carrying = try await authorized(request, to: target, with: presented)
        return AuthorizedRequest(carrying, to: target, presented, of: token, self)
    }

    /// - Parameter key: The login's, if it was read together with the token.
    private func authorized(
        _ request: HTTPRequest, to target: EndpointURL, with token: PresentedToken, key: KeyRecord? = nil
    ) async throws -> HTTPRequest {
        var fields = request.headerFields
        fields[.dpop] = nil
        let rules = await resourceRules(of: token)
        let name = rules.header
        fields[name] = nil
        let scheme: String
        switch token.tokenType {
        case .bearer: scheme = rules.scheme ?? "Bearer"
        case .dpop:
            scheme = "DPoP"
            await fields.append(.secret(.dpop, try proof(for: request, to: target, with: token, key: key).rawValue))
        default:
            throw VaultError(.invalidArgument, "a token of this type cannot be added to a request")
        }
        fields.append(.secret(name, (scheme.isEmpty ? "" : scheme + " ") + token.accessToken.reveal()))
        var request = request
        request.headerFields = fields
        return request
    }

    private func proof(
        for request: HTTPRequest, to target: EndpointURL, with token: PresentedToken, key: KeyRecord?
    ) async throws -> DPoPProof {
        guard let key = try await self.key(of: token, known: key) else {
            throw VaultError(.conflict, "the key of this token is gone", hint: "get a new token")
        }
        let offset = resourceServers.clockOffset(at: target.origin)
        return try VaultError.translatingValues {
            try DPoPProof.sign(
                key: key, method: request.method, url: target.rawValue,
                issuedAt: vault.wallClock().addingTimeInterval(offset / .seconds(1)),
                nonce: resourceServers.nonce(for: token.prover, at: target.origin),
                accessToken: token.accessToken)
        }
    }

    private func key(of token: PresentedToken, known: KeyRecord?) async throws -> DPoPKey? {
        guard case .login(let login) = token.prover else { return token.clientKey }
        var stored = known
        if stored == nil {
            stored = try await VaultError.translating {
                try await vault.store.session(.login(login.handle), withKey: true).key
            }
        }
        return stored.flatMap { DPoPContext($0)?.key }
    }

    /// See ``AuthorizedRequest/outcome(of:startedAt:body:)``.
    ///
    /// - Parameter prove: Called if the server accepted the token.
    func read(
        _ response: HTTPResponse, to request: HTTPRequest, at target: EndpointURL, _ token: PresentedToken,
        _ startedAt: Date?, _ body: [UInt8]?, prove: () -> Void
    ) async -> ResourceReply {
        let newClock = token.tokenType == .dpop && hasLearnedClock(response, target, startedAt)
        let isRefusal = response.status == .unauthorized || response.status == .badRequest
        var challenges = isRefusal ? AuthenticationChallenge.all(in: response) : []
        let isBound = token.tokenType == .dpop
        // For a bound token, errors about its proof come first.
        if isBound {
            challenges = challenges.filter { $0.scheme == "dpop" } + challenges.filter { $0.scheme != "dpop" }
        }
        let wantsNonce = isBound && isRefusal && Self.asksForNonce(response, challenges, body)
        let newNonce = isBound ? learnNonce(response, wantsNonce, request, target, token) : nil
        let isRefusedByRule = await resourceRules(of: token).refusesToken(response, body: body)
        if response.status.kind == .successful, !isRefusedByRule { prove() }
        // Not every server reports it under the scheme of the token, or with 401.
        if wantsNonce, let newNonce, newNonce.rawValue != request.provenNonce { return .wantsNewProof }
        if let scope = Self.missingScope(response) { return .needsScope(scope) }
        guard response.status == .unauthorized else { return isRefusedByRule ? .refusedToken : .final }
        var isAboutScope = false
        for challenge in challenges {
            switch (challenge.scheme, challenge.error) {
            case ("dpop", .useDPoPNonce?), ("dpop", .invalidDPoPProof?):
                guard token.tokenType == .dpop else { continue }
                let isNewNonce = newNonce.map { $0.rawValue != request.provenNonce } ?? false
                if isNewNonce || (newClock && challenge.error == .invalidDPoPProof) { return .wantsNewProof }
            case ("dpop", .invalidToken?), ("bearer", .invalidToken?):
                return .refusedToken
            case ("dpop", .insufficientUserAuthentication?), ("bearer", .insufficientUserAuthentication?):
                return .needsStepUp(StepUpChallenge(challenge))
            case ("dpop", _?), ("bearer", _?): isAboutScope = true
            default: continue
            }
        }
        // An explicit RFC 6750 error counts more than the usual meaning of the provider's status.
        return isRefusedByRule && !isAboutScope ? .refusedToken : .final
    }

    /// The scope that a request needs and its token lacks (RFC 6750 §3.1). Some servers answer with 401.
    private static func missingScope(_ response: HTTPResponse) -> Scope? {
        guard response.status == .forbidden || response.status == .unauthorized else { return nil }
        let challenge = AuthenticationChallenge.all(in: response).first {
            ["bearer", "dpop"].contains($0.scheme) && $0.error == .insufficientScope
        }
        guard let challenge else { return nil }
        return challenge["scope"].flatMap { try? Scope($0) } ?? (try? Scope(tokens: []))
    }

    /// See ``AuthorizedRequest/needsBody(of:)``.
    func needsBody(of response: HTTPResponse, _ token: PresentedToken) async -> Bool {
        // Some servers ask for a nonce only in the body.
        let maySayNonce =
            token.tokenType == .dpop && (response.status == .unauthorized || response.status == .badRequest)
            && DPoPNonce(in: response) != nil
        if maySayNonce { return true }
        return await resourceRules(of: token).needsBody(response)
    }

    private static func asksForNonce(
        _ response: HTTPResponse, _ challenges: [AuthenticationChallenge], _ body: [UInt8]?
    ) -> Bool {
        if challenges.contains(where: { $0.error == .useDPoPNonce }) { return true }
        guard let body, body.count <= ProviderProfile.ResourceRules.longestBody else { return false }
        return OAuthErrorCode(inBody: body, of: response) == .useDPoPNonce
    }

    func resourceRules(of token: PresentedToken) async -> ProviderProfile.ResourceRules {
        await resourceFacts(of: token)?.rules ?? .init()
    }

    /// What a request needs of the token's provider. A changed provider is noticed within a minute; if it can no longer
    /// be read, what was read last is used.
    private func resourceFacts(of token: PresentedToken) async -> ResourceServer? {
        guard let provider = token.provider else { return nil }
        let known = resourceServers.facts(of: provider)
        if let known, (Duration.zero..<Duration.seconds(60)).contains(vault.now.since(known.readAt)) {
            return known.facts
        }
        return (try? await newestFacts(of: provider)) ?? known?.facts
    }

    /// See ``AuthorizedRequest/certificate()``.
    func certificate(for token: PresentedToken) async throws -> ClientCertificate? {
        guard token.provider != nil else { return nil }
        guard let facts = await resourceFacts(of: token), facts.rules != nil else {
            throw VaultError(.conflict, "the provider of this token cannot be read")
        }
        return facts.certificate
    }

    private func learnNonce(
        _ response: HTTPResponse, _ wantsNonce: Bool, _ request: HTTPRequest, _ target: EndpointURL,
        _ token: PresentedToken
    ) -> DPoPNonce? {
        let nonce = DPoPNonce(in: response)
        let isRefused: Bool? =
            wantsNonce ? true : response.status == .unauthorized || response.status.code >= 500 ? nil : false
        resourceServers.learn(
            nonce, for: token.prover, at: target.origin, sent: { request.provenNonce }, isRefused: isRefused)
        return nonce
    }

    /// The gate for requests that are repeated with another nonce: concurrent ones go one after the other.
    package var resourceGate: NonceGate { resourceServers.shared.gate }

    private func hasLearnedClock(_ response: HTTPResponse, _ target: EndpointURL, _ startedAt: Date?) -> Bool {
        guard let startedAt,
            let offset = ClockOffset.measured(response, startedAt: startedAt, repliedAt: vault.wallClock())
        else { return false }
        return resourceServers.learn(clockOffset: offset, at: target.origin)
    }
}

extension UserManager {
    /// Refuses a request that must not carry a token of this provider, before a token is fetched.
    package func checkTarget(of request: HTTPRequest, forClientOf provider: String) async throws {
        let target = try target(of: request)
        let name = names.provider(provider)
        let record = try await VaultError.translating { try await vault.store.provider(named: name).record }
        try VaultError.translatingValues { try record.allowedOrigins }.requireAllowed(target)
    }

    /// Returns a good token of this login for this request. See ``authorize(_:for:_:baseURL:)`` for refused requests.
    package func accessToken(
        for login: LoginRef, _ tokenRequest: TokenRequest = TokenRequest(), sentWith request: HTTPRequest
    ) async throws -> VaultToken {
        try await tokenAndKey(for: login, tokenRequest, to: target(of: request)).token
    }

    /// The URL, if a token may be sent to it.
    func target(of request: HTTPRequest, _ baseURL: URL? = nil) throws -> EndpointURL {
        // A path that could extend the host name, or a host name that contains a path, is refused.
        guard (request.path ?? "/").hasPrefix("/") else { throw Self.noTarget }
        do throws(OAuthValueError) {
            guard let baseURL else {
                guard let scheme = request.scheme, let authority = request.authority, !authority.contains("/"),
                    !authority.contains("?")
                else { throw OAuthValueError(.malformed, "URL of a request") }
                return try target("\(scheme)://\(authority)\(request.path ?? "/")")
            }
            // Joined like this by the transports of generated clients, and a proof must name the URL that is sent.
            let base = try target(baseURL.absoluteString).rawValue.prefix { $0 != "?" }
            return try target(base + (request.path ?? ""))
        } catch {
            throw Self.noTarget
        }
    }

    private func target(_ url: String) throws(OAuthValueError) -> EndpointURL {
        try EndpointURL(url, allowsInsecureLoopback: context.allowsInsecureLoopback)
    }

    /// The error for a request that no token goes to.
    package static var noTarget: VaultError {
        VaultError(
            .invalidArgument, "a token goes to https URLs only",
            hint: "the request needs a scheme, an authority and a path, all percent-encoded, or a base URL; plain http "
                + "to this machine is for development: AsyncHTTPTransport.Options.allowsInsecureLoopback")
    }
}

extension HTTPRequest {
    /// The nonce in the proof that was sent.
    fileprivate var provenNonce: String? {
        guard let parts = headerFields[.dpop]?.split(separator: "."), parts.count == 3,
            let claims = Base64URL.decode(parts[1]).flatMap({ try? JSONObject(document: $0) }),
            case .string(let nonce)? = claims["nonce"]
        else { return nil }
        return nonce
    }
}

extension HTTPField {
    /// Never put into a table that HTTP/2 compression shares with other requests (RFC 7541 §7.1).
    fileprivate static func secret(_ name: Name, _ value: String) -> HTTPField {
        var field = HTTPField(name: name, value: value)
        field.indexingStrategy = .disallow
        return field
    }
}
