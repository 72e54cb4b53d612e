import Logging
import OAuthClient
import VaultStorage

/// The shared parts of all renewals of one ``UserManager``: the vault, the connections to providers and to the app, and
/// knowledge about both. In memory: forgetting any of it costs a request or two.
package final class RenewalContext: Sendable {
    let vault: Vault
    let channel: ProviderChannel
    let handler: (any TokenRefreshHandler)?
    let sessionHandlers: SessionHandlers
    package let options: UserManagerOptions
    /// Whether tokens and requests may go to plain `http` on this machine.
    package let allowsInsecureLoopback: Bool
    let revoker: Revoker
    let metrics: RenewalMetrics
    let calls: CallMetrics
    let health = ProviderHealth()
    let limiter: ProviderLimiter
    let secretTrials = SecretTrials()
    let successes = KnownSuccesses()
    let refusedTargets = RefusedTargets()
    let keySets = ProviderKeySets()
    let serverNonces: ServerNonces
    /// Tokens whose predecessors are still kept.
    let unproven = UnprovenTokens()
    let lifetimes = KnownLifetimes()
    let awaited = AwaitedOwners()
    let consents = RecentConsents()
    private let closing: Vault.ClosingAction

    init(
        vault: Vault, transport: any HTTPTransport, handler: (any TokenRefreshHandler)?,
        sessionHandler: (any SessionHandler)?, options: UserManagerOptions
    ) {
        self.vault = vault
        self.handler = handler
        self.options = options
        allowsInsecureLoopback = options.allowsInsecureLoopback ?? transport.allowsInsecureLoopback
        channel = ProviderChannel(
            transport: transport,
            announcer: ResponseAnnouncer(
                options.tokenEndpointListener, revealsSecretBodies: options.revealsSecretBodiesToListener),
            now: vault.wallClock)
        sessionHandlers = SessionHandlers(sessionHandler)
        revoker = Revoker(vault, channel, options)
        metrics = RenewalMetrics(options.metrics)
        calls = CallMetrics(options.metrics)
        serverNonces = ServerNonces(gate: NonceGate(vault.timeSource))
        let limiter = ProviderLimiter(timeSource: vault.timeSource)
        self.limiter = limiter
        closing = vault.whenClosing { limiter.close() }
    }

    deinit { vault.forgetClosingAction(closing) }

    package var transport: any HTTPTransport { channel.transport }

    /// Whether logins without a refresh token can be renewed here.
    var canAskApp: Bool { handler != nil || sessionHandlers.isInstalled }

    /// Returns until when the provider must not be asked; nil: it may be asked, and the caller is the one to try.
    ///
    /// - Parameter isClean: Whether the login in question has not been refused since its last success.
    func probe(_ provider: StoredProvider, isClean: Bool = true) -> Timestamp? {
        let now = vault.now
        return health.change(provider.handle) {
            $0.breaker.probe(revision: provider.revision, now: now, isClean: isClean)
        }
    }

    /// - Parameter moment: The breaker's moment when it let the refused request pass: ``Breaker/moment``. Nil: the
    ///   current one.
    func openBreaker(_ provider: StoredProvider, moment: Int? = nil) {
        let (now, random) = (vault.now, random())
        health.change(provider.handle) {
            $0.breaker.open(
                revision: provider.revision, now: now, random: random, moment: moment ?? $0.breaker.moment)
        }
        vault.logger.debug(
            "a provider refused this client", metadata: ["vault-provider-handle": "\(provider.handle.text)"])
    }

    /// The provider refused the request of one login. After several in a row, the client is assumed to be at fault.
    ///
    /// - Parameters:
    ///   - isClean: Whether the login had not been refused since its last success.
    ///   - moment: See ``openBreaker(_:moment:)``.
    func noteRefusal(of login: LoginHandle, isClean: Bool, by provider: StoredProvider, moment: Int) {
        let (now, random) = (vault.now, random())
        let isEnough = health.change(provider.handle) {
            $0.breaker.noteRefusal(
                of: login, isClean: isClean, revision: provider.revision, now: now, random: random, moment: moment)
        }
        guard isEnough else { return }
        vault.logger.debug(
            "a provider refuses one login after the other",
            metadata: ["vault-provider-handle": "\(provider.handle.text)"])
    }

    /// Updates from the vault whether the provider is stopped, because it has ended too many logins.
    func followStop(of provider: StoredProvider) async throws(StoreError) {
        let now = vault.now
        let isStopped = try await vault.store.endings(of: provider.handle).stoppedAt != nil
        health.change(provider.handle) {
            $0.breaker.follow(isStopped: isStopped, revision: provider.revision, now: now)
        }
    }

    func random() -> Double { options.random() }

    /// Runs the action when the app's time is over; nil if it has no time limit.
    func alarm(_ action: @escaping @Sendable () -> Void) -> Task<Void, Never>? {
        options.handlerTimeLimit.map { vault.timeSource.alarm(after: $0, action) }
    }

    /// Asks the app, in a task without the caller's task-local values.
    func ask(_ asked: AskedLogin, _ question: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
        vault.spawn { await AskedLogin.$current.withValue(asked) { await question() } }
    }
}

extension RenewalContext {
    /// The stored access token; nil if there is none that may be given out.
    @inline(__always)
    func usableToken(in snapshot: SessionSnapshot, _ target: TokenTarget) throws -> VaultToken? {
        guard options.servesTokensOfDeadLogins || snapshot.session.failure?.isDead != true else { return nil }
        return try vault.usableToken(in: snapshot, target)
    }
}
