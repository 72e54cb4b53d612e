import FoundationEssentials
public import HTTPTypes
public import OAuthClient
public import ServiceLifecycle
public import TokenVault

/// Sends requests to APIs on behalf of users: adds the access token and, where the token is bound to a key, the proof.
///
/// ```swift
/// let client = AuthorizingClient(users: users)
/// let response = try await client.get("https://api.example/me", for: .user("alice"))
/// let body = try await response.body.collect(upTo: 1 << 20)
/// ```
///
/// A request is sent a second time only when the server has rejected the token or the proof, and so has done nothing:
///
/// - when it asks for a nonce in the proof, or when its clock turns out to differ (401 with `use_dpop_nonce` or
///   `invalid_dpop_proof`): up to five times, with few simultaneous repeats to a server, because one whose nonce
///   changes every few uses rejects most of the requests that arrive together;
/// - once, when it answers 401 with `invalid_token`: the token is reported and renewed, at most once for any number of
///   requests, and the new one tried. If there is no new one, the 401 is the answer, and its
///   ``ResourceResponse/renewalFailure`` says why: the login may have ended.
///
/// A streamed body is not replayed: then the 401 is the answer, and the next request has the nonce or the new token.
///
/// - the same, where the provider's profile says that it rejects tokens in another way: by a bare 401, or by a code in
///   a body.
///
/// A token that is bound to a client certificate (RFC 8705) is sent only on connections that present the certificate,
/// which carry no other requests.
///
/// Redirects are not followed, so a token reaches only the named host. A request to anything but `https` is rejected
/// with `VaultError`, code `invalidArgument`, before a token is fetched; plain `http` to this machine needs
/// `AsyncHTTPTransport.Options.allowsInsecureLoopback`. If the provider has a list of API origins, a request to any other
/// origin is rejected in the same way, with the code `originNotAllowed`.
public final class AuthorizingClient: Service {
    private let users: UserManager
    private let options: Options
    private let network: ResourceNetwork
    private let brake: RejectionBrake
    private static let mostProofs = ServerNonces.mostRepeats

    /// - Parameters:
    ///   - users: Whose tokens it sends, and to whom it reports those that are rejected.
    ///   - transport: Sends the requests, for tests such as `ScriptedTransport` of `TokenVaultTesting`. It reads a
    ///     streamed body before it sends it, and a reply, of up to 16 MiB, before the caller gets it. It is not shut
    ///     down with this client. By default the client has connections of its own, which it keeps open.
    ///   - options: The settings. A transport has its own connections, and only the times here are for it.
    public init(users: UserManager, transport: (any HTTPTransport)? = nil, options: Options = Options()) {
        self.users = users
        self.options = options
        network = ResourceNetwork(options, transport)
        brake = RejectionBrake()
    }

    private init(_ client: AuthorizingClient, users: UserManager) {
        self.users = users
        options = client.options
        network = client.network
        brake = client.brake
    }

    /// This client, for the users and providers of one tenant under their names in it: see `UserManager.scoped(to:)`. It shares
    /// the connections of this client, which ends them for both.
    public func scoped(to tenant: Tenant) -> AuthorizingClient {
        AuthorizingClient(self, users: users.scoped(to: tenant))
    }

    /// Closes open connections. Requests in flight fail.
    public func shutdown() async { await network.shutDown() }

    /// In a service group: waits for shutdown, then closes open connections. Put it between the vault and the server.
    public func run() async throws {
        try? await gracefulShutdown()
        await shutdown()
    }

    /// Sends a request with a token of this login.
    ///
    /// - Throws: `VaultError` if there is no valid token; `HTTPTransportError` if there is no reply;
    ///   `CancellationError`; and errors of a streamed body. A reply of any status is not an error.
    public func send(
        _ request: HTTPRequest, body: RequestBody = .none, for login: LoginRef,
        _ tokenRequest: TokenRequest = TokenRequest()
    ) async throws -> ResourceResponse {
        var tokenRequest = tokenRequest
        tokenRequest.deadline = tokenRequest.deadline ?? options.tokenDeadline
        let request = body.describe(request)
        let (authorized, token) = try await users.authorized(request, for: login, tokenRequest)
        return try await send(request, body, authorized, with: .login(token))
    }

    /// Sends a request with a token of the client itself, for work that belongs to no user. See
    /// ``send(_:body:for:_:)``.
    ///
    /// - Parameters:
    ///   - request: The request to send.
    ///   - body: The body of the request.
    ///   - provider: The provider's name in the vault.
    ///   - tokenRequest: The purpose of the token. See `UserManager.clientToken`.
    ///   - parameters: Added to the request for the token, such as `audience`.
    public func send(
        _ request: HTTPRequest, body: RequestBody = .none, asClientOf provider: String,
        _ tokenRequest: TokenRequest = TokenRequest(), parameters: [FormParameter] = []
    ) async throws -> ResourceResponse {
        var tokenRequest = tokenRequest
        tokenRequest.deadline = tokenRequest.deadline ?? options.tokenDeadline
        let request = body.describe(request)
        let source = ClientTokenSource(provider: provider, request: tokenRequest, parameters: parameters)
        // A request that may not carry a token fails before one is fetched.
        try await users.checkTarget(of: request, forClientOf: provider)
        let token = try await source.token(users)
        let authorized = try await users.authorize(request, withClientToken: token)
        return try await send(request, body, authorized, with: .client(token), source)
    }

    /// Sends a request with a token of this user's only login. See ``send(_:body:for:_:)``.
    public func send(
        _ request: HTTPRequest, body: RequestBody = .none, userId: String
    ) async throws -> ResourceResponse {
        try await send(request, body: body, for: .user(userId))
    }

    /// Sends an authorized request, and repeats it as often as that makes sense.
    private func send(
        _ request: HTTPRequest, _ body: RequestBody, _ authorized: AuthorizedRequest, with first: SentToken,
        _ source: ClientTokenSource? = nil
    ) async throws -> ResourceResponse {
        var token = first
        var trial = try await attempt(authorized, body, token)
        var (proofs, mayRenew) = (0, true)
        let waitsUntil = ContinuousClock.now + options.longestWait
        while true {
            let response = trial.response
            switch trial.meaning {
            case .final:
                if response.head.status != .unauthorized { brake.release(token.owner, request) }
                return response
            case .needsStepUp(let challenge):
                var response = response
                response.stepUp = challenge
                return response
            case .needsScope(let scope):
                var response = response
                response.missingScope = scope
                return response
            case .wantsNewProof:
                guard proofs < Self.mostProofs, body.canBeSentAgain else { return response }
                proofs += 1
                trial = try await prove(again: request, body, token, proofs, until: waitsUntil)
            case .refusedToken:
                guard mayRenew else {
                    // The server rejects a new token like the old one: the token is not the problem.
                    brake.pull(token.owner, request, at: trial.startedAt)
                    return response
                }
                guard !brake.holds(token.owner, request, at: trial.startedAt) else { return response }
                switch await newerToken(than: token, source) {
                case .failure(let failure):
                    var response = response
                    response.renewalFailure = failure
                    return response
                case .success(let newer):
                    guard let newer, body.canBeSentAgain else { return response }
                    (token, mayRenew) = (newer, false)
                }
                trial = try await attempt(again: request, body, token)
            }
        }
    }

    /// One request and the meaning of its reply.
    private struct Trial {
        let response: ResourceResponse
        let meaning: ResourceReply
        let startedAt: Date
    }

    /// Repeats a request after those before it, so that its nonce has not been used up meanwhile.
    private func prove(
        again request: HTTPRequest, _ body: RequestBody, _ token: SentToken, _ tries: Int,
        until end: ContinuousClock.Instant
    ) async throws -> Trial {
        let gate = users.resourceGate
        let place = "\(request.scheme ?? "")://\(request.authority ?? "")"
        let pass = await gate.enter(place, tries: tries, within: end - .now)
        var isRefused = false
        defer { if let pass { gate.leave(pass, isRefused: isRefused) } }
        try Task.checkCancellation()
        let trial = try await attempt(again: request, body, token)
        isRefused = trial.meaning == .wantsNewProof
        return trial
    }

    /// Repeats a request with a new proof, which has the latest nonce.
    private func attempt(again request: HTTPRequest, _ body: RequestBody, _ token: SentToken) async throws -> Trial {
        let authorized =
            switch token {
            case .login(let token): try await users.authorize(request, with: token)
            case .client(let token): try await users.authorize(request, withClientToken: token)
            }
        return try await attempt(authorized, body, token)
    }

    private func attempt(
        _ authorized: AuthorizedRequest, _ body: RequestBody, _ token: SentToken
    ) async throws -> Trial {
        let startedAt = users.vault.wallClock()
        var response = try await network.exchange(authorized, body, token)
        let body = await authorized.needsBody(of: response.head) ? response.readAhead() : nil
        let meaning = await authorized.outcome(of: response.head, startedAt: startedAt, body: body)
        return Trial(response: response, meaning: meaning, startedAt: startedAt)
    }

    /// Nil if there is none: the reply at hand is then the answer, with the failure if that is why.
    private func newerToken(
        than token: SentToken, _ source: ClientTokenSource?
    ) async -> Result<SentToken?, VaultError> {
        do {
            switch token {
            case .login(let token):
                try await users.reportRejected(token)
                let newer = try await users.accessToken(replacing: token, deadline: options.tokenDeadline)
                return .success(newer.generation > token.generation ? .login(newer) : nil)
            case .client(let token):
                try await users.reportRejected(clientToken: token)
                guard let newer = try await source?.token(users) else { return .success(nil) }
                return .success(newer.generation > token.generation ? .client(newer) : nil)
            }
        } catch {
            // A caller who was cancelled meanwhile gets the reply.
            return (error as? VaultError).map { .failure($0) } ?? .success(nil)
        }
    }
}

/// Fetches a token of the client itself for a request, and again for a repeat.
private struct ClientTokenSource {
    let provider: String
    let request: TokenRequest
    let parameters: [FormParameter]

    func token(_ users: UserManager) async throws -> ClientToken {
        try await users.clientToken(provider: provider, request, parameters: parameters)
    }
}
