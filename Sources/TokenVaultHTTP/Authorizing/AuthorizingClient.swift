import AsyncHTTPClient
import FoundationEssentials
public import HTTPTypes
import NIOCore
import NIOHTTP1
public import OAuthClient
public import ServiceLifecycle
import Synchronization
public import TokenVault

/// Sends requests to APIs on behalf of users: adds the access token and, where the token is bound to a key, the proof.
///
/// ```swift
/// let client = AuthorizingClient(users: users)
/// let request = HTTPRequest(method: .get, scheme: "https", authority: "api.example", path: "/me")
/// let response = try await client.send(request, userId: "alice")
/// let body = try await response.body.collect(upTo: 1 << 20)
/// ```
///
/// A request is sent a second time only when the server has rejected the token or the proof, and so has done nothing:
///
/// - when it asks for a nonce in the proof, or when its clock turns out to differ (401 with `use_dpop_nonce` or
///   `invalid_dpop_proof`): up to five times, with few simultaneous repeats to a server, because one whose nonce
///   changes every few uses rejects most of the requests that arrive together;
/// - once, when it answers 401 with `invalid_token`: the token is reported and renewed, at most once for any number of
///   requests, and the new one tried. If there is no new one, the 401 is the answer.
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
    private let clients: CertificateClients
    private let brake: RejectionBrake
    private static let mostProofs = ServerNonces.mostRepeats

    public init(users: UserManager, options: Options = Options()) {
        self.users = users
        self.options = options
        clients = CertificateClients { try .resources(options, $0) }
        brake = RejectionBrake()
    }

    private init(_ client: AuthorizingClient, users: UserManager) {
        self.users = users
        options = client.options
        clients = client.clients
        brake = client.brake
    }

    /// This client, for the users and providers of one tenant under their names in it: see `UserManager.scoped(to:)`. It shares
    /// the connections of this client, which ends them for both.
    public func scoped(to tenant: Tenant) -> AuthorizingClient {
        AuthorizingClient(self, users: users.scoped(to: tenant))
    }

    /// Closes open connections. Requests in flight fail.
    public func shutdown() async { await clients.shutDown() }

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
                guard !brake.holds(token.owner, request, at: trial.startedAt),
                    let newer = await newerToken(than: token, source), body.canBeSentAgain
                else { return response }
                mayRenew = false
                token = newer
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
        var response = try await exchange(authorized, body, token)
        let body = await authorized.needsBody(of: response.head) ? response.readAhead() : nil
        let meaning = await authorized.outcome(of: response.head, startedAt: startedAt, body: body)
        return Trial(response: response, meaning: meaning, startedAt: startedAt)
    }

    /// Nil if there is none: the reply at hand is then the answer.
    private func newerToken(than token: SentToken, _ source: ClientTokenSource?) async -> SentToken? {
        do {
            switch token {
            case .login(let token):
                try await users.reportRejected(token)
                let newer = try await users.accessToken(replacing: token, deadline: options.tokenDeadline)
                return newer.generation > token.generation ? .login(newer) : nil
            case .client(let token):
                try await users.reportRejected(clientToken: token)
                guard let newer = try await source?.token(users) else { return nil }
                return newer.generation > token.generation ? .client(newer) : nil
            }
        } catch {
            return nil
        }
    }

    private func exchange(
        _ authorized: AuthorizedRequest, _ body: RequestBody, _ token: SentToken
    ) async throws -> ResourceResponse {
        let request = authorized.request
        var outgoing = HTTPClientRequest(
            url: "\(request.scheme ?? "")://\(request.authority ?? "")\(request.path ?? "/")")
        outgoing.method = HTTPMethod(rawValue: request.method.rawValue)
        outgoing.headers = HTTPHeaders(request.headerFields.map { ($0.name.rawName, $0.value) })
        if !outgoing.headers.contains(name: "User-Agent") {
            outgoing.headers.add(name: "User-Agent", value: options.userAgent)
        }
        switch body {
        case .none: break
        case .bytes(let bytes): outgoing.body = .bytes(ByteBuffer(bytes: bytes))
        case .stream(let stream, let length):
            outgoing.body = Self.streaming(stream, length: length)
        }
        do {
            let lease = try await lease(for: authorized)
            let response = try await lease.client.execute(
                outgoing, deadline: .now() + TimeAmount(options.timeout))
            return try ResourceResponse(response, token: token, lease)
        } catch let error as VaultError {
            throw error
        } catch {
            throw HTTPTransportError.ofResource(error)
        }
    }

    /// A token that is bound to a certificate is sent together with it, or not at all.
    private func lease(for authorized: AuthorizedRequest) async throws -> CertificateClients.Lease {
        let certificate = try await authorized.certificate()
        let isPlain = authorized.request.scheme?.lowercased() == "http"
        guard certificate == nil || !isPlain else { throw HTTPTransportError(.notSent, .refused) }
        return try clients.lease(.init(certificate: certificate, isDirect: isPlain && options.proxy != nil))
    }

    /// Opens the existential, as the library's generic parameter requires.
    private static func streaming(
        _ stream: any AsyncSequence<[UInt8], any Error> & Sendable, length: Int64?
    ) -> HTTPClientRequest.Body {
        func open(_ stream: some AsyncSequence<[UInt8], any Error> & Sendable) -> HTTPClientRequest.Body {
            .stream(stream.map { ByteBuffer(bytes: $0) }, length: length.map { .known($0) } ?? .unknown)
        }
        return open(stream)
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
