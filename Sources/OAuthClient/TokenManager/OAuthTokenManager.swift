public import FoundationEssentials
import Synchronization

/// Fetches, refreshes and revokes the tokens of one login, and keeps its key pair. Stores nothing else: the caller
/// keeps the tokens, and decides when to retry.
///
/// ```swift
/// let manager = OAuthTokenManager(configuration: configuration, transport: transport)
/// switch await manager.fetchAccessToken(with: code, codeVerifier: verifier) {
/// case .successfulToken(let tokens): keep(tokens)
/// case .errorToken(let reply): log("the server said no: \(reply)")
/// case .error(let failure): log("there was no usable answer: \(failure)")
/// }
/// ```
///
/// The key pair is made for the first request that needs one. It is cleared when the server answers `invalid_grant` and
/// after the confirmed revocation of the refresh token: everything bound to it is then useless. The revocation of an
/// access token does not clear it, because the refresh token may live on, and is bound to it (RFC 9449 §5).
public final class OAuthTokenManager: Sendable {
    private struct Keys {
        var context: DPoPContext?
        /// Incremented whenever the key pair changes, so that a late reply never restores an old one.
        var generation = 0
    }

    public let configuration: OAuthClientConfiguration
    private let binding: ServerBinding
    private let transport: any HTTPTransport
    private let now: @Sendable () -> Date
    private let announcer: ResponseAnnouncer?
    private let keys: Mutex<Keys>

    /// - Parameters:
    ///   - configuration: the server and our registration there.
    ///   - transport: sends the requests, without following redirects or repeating anything.
    ///   - keyPair: the key pair of an existing login; its refresh token is bound to it.
    ///   - listener: called after every exchange. The result is what the call returns: act on one of the two, not on
    ///     both.
    ///   - revealsSecretBodiesToListener: whether the listener gets the bodies of replies, with the tokens in them.
    ///   - now: the wall clock, for the `iat` of proofs and assertions.
    public init(
        configuration: OAuthClientConfiguration, transport: any HTTPTransport, keyPair: DPoPKey? = nil,
        listener: (any TokenEndpointResponseListener)? = nil, revealsSecretBodiesToListener: Bool = false,
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.configuration = configuration
        self.transport = transport
        self.now = now
        announcer = ResponseAnnouncer(listener, revealsSecretBodies: revealsSecretBodiesToListener)
        var binding = ServerBinding(
            tokenEndpoint: configuration.tokenEndpoint, clientID: configuration.clientID,
            authentication: configuration.authentication, limits: configuration.limits)
        binding.assertionAudience = configuration.assertionAudience?.rawValue
        self.binding = binding
        keys = Mutex(Keys(context: keyPair.map { DPoPContext(key: $0) }))
    }

    /// The key pair of this login: keep it as long as its refresh token.
    public var keyPair: DPoPKey? { keys.withLock { $0.context?.key } }

    /// Exchanges an authorization code (RFC 6749 §4.1.3).
    public func fetchAccessToken(
        with code: AuthorizationCode, codeVerifier: CodeVerifier? = nil, extraParameters: [FormParameter] = []
    ) async -> TokenResponse {
        await run(.fetch) { endpoint, dpop, context in
            await endpoint.exchangeCode(
                CodeRequest(
                    code: code, codeVerifier: codeVerifier, redirectURI: self.configuration.redirectURI?.rawValue,
                    dpop: dpop,
                    extraParameters: extraParameters),
                context: context)
        }
    }

    /// Uses a refresh token (RFC 6749 §6). It often works only once: store the new one before anything else.
    public func refreshAccessToken(
        with refreshToken: RefreshToken, scope: Scope? = nil, extraParameters: [FormParameter] = []
    ) async -> TokenResponse {
        await run(.refresh) { endpoint, dpop, context in
            await endpoint.refresh(
                RefreshRequest(refreshToken: refreshToken, scope: scope, dpop: dpop, extraParameters: extraParameters),
                context: context)
        }
    }

    /// Fetches a token for the client itself, without a user (RFC 6749 §4.4). It has no refresh token: fetch another
    /// one when it expires.
    ///
    /// - Parameters:
    ///   - scope: what the token may be used for (RFC 6749 §3.3); nil leaves it to the server.
    ///   - resources: the APIs that the token is for (RFC 8707 §2), as absolute URIs; empty leaves it to the server.
    ///   - extraParameters: added to the form as they are, such as `audience`.
    public func fetchClientAccessToken(
        scope: Scope? = nil, resources: [String] = [], extraParameters: [FormParameter] = []
    ) async -> TokenResponse {
        await run(.fetch) { endpoint, dpop, _ in
            await endpoint.clientCredentials(
                scope: scope, resources: resources, dpop: dpop, extraParameters: extraParameters)
        }
    }

    /// Revokes a refresh token and, at most servers, the access tokens of its grant (RFC 7009 §2.1).
    public func revokeRefreshToken(
        _ token: RefreshToken, extraParameters: [FormParameter] = []
    ) async -> RevocationOutcome {
        await revoke(.refresh(token), extraParameters)
    }

    /// Revokes an access token (RFC 7009 §2.1).
    public func revokeAccessToken(
        _ token: AccessToken, extraParameters: [FormParameter] = []
    ) async -> RevocationOutcome {
        await revoke(.access(token), extraParameters)
    }

    private func run(
        _ operation: TokenEndpointResponse.Operation,
        _ request: (TokenEndpoint, DPoPContext?, ClassificationContext) async -> TokenAttempt
    ) async -> TokenResponse {
        let (dpop, generation) = keys.withLock { keys in
            if keys.context == nil, case .required = configuration.keyBinding {
                keys.context = DPoPContext(key: .generate())
                keys.generation += 1
            }
            return (keys.context, keys.generation)
        }
        let recorder = announcer?.recorder(of: operation, over: transport, now: now)
        let endpoint = TokenEndpoint(binding: binding, transport: recorder ?? transport, now: now)
        let attempt = await request(
            endpoint, dpop, ClassificationContext(expectedTokenType: dpop == nil ? .bearer : .dpop))
        settle(generation, nonces: attempt.nonces, clockOffset: attempt.clockOffset, clears: attempt.isInvalidGrant)
        recorder?.announce()
        return TokenResponse(attempt)
    }

    private func revoke(_ token: RevocableToken, _ extraParameters: [FormParameter]) async -> RevocationOutcome {
        let (dpop, generation) = keys.withLock { ($0.context, $0.generation) }
        let recorder = announcer?.recorder(of: .revoke, over: transport, now: now)
        let endpoint = RevocationEndpoint(
            endpoint: configuration.revocationEndpoint, binding: binding, transport: recorder ?? transport, now: now)
        let attempt = await endpoint.revoke(token, dpop: dpop, extraParameters: extraParameters)
        let endsGrant = if case .refresh = token { attempt.outcome == .revoked } else { false }
        settle(generation, nonces: attempt.nonces, clockOffset: nil, clears: endsGrant)
        recorder?.announce()
        return attempt.outcome
    }

    private func settle(_ generation: Int, nonces: [String: DPoPNonce], clockOffset: Duration?, clears: Bool) {
        keys.withLock { keys in
            guard keys.generation == generation else { return }
            if clears {
                keys.context = nil
                keys.generation += 1
                return
            }
            keys.context?.nonces.merge(nonces) { $1 }
            if let clockOffset { keys.context?.clockOffset = clockOffset }
        }
    }
}
