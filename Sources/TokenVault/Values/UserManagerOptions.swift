public import Metrics
public import OAuthClient
public import Tracing

/// How a ``UserManager`` works.
public struct UserManagerOptions: Sendable {
    /// How long callers wait for a renewal that another living process has begun and does not finish, before they get
    /// ``VaultError/Code/refreshStalled``. Nil: a minute, or more where the provider may take longer for one request.
    /// While that process asks its app, ``handlerTimeLimit`` comes on top; without one there is no limit.
    public var stallLimit: Duration?
    /// The action after that time.
    public var stallPolicy: StallPolicy
    /// How often renewals of processes that have ended, and those that are in doubt, are looked for. Nil: only
    /// when a call needs such a login: for programs that run for a moment.
    public var recoveryInterval: Duration?
    /// How long a log-in that has begun can be completed.
    public var logInLifetime: Duration
    /// How long a revocation that no provider confirms is tried again. After that its tokens are destroyed here, which
    /// the audit trail records, and live on at the provider until they expire.
    public var revocationLifetime: Duration
    /// Whether due revocations are retried when the manager is made and after each log-out. Without it they wait for
    /// a ``RenewalScheduler`` or `vaultctl outbox retry`.
    package var retriesRevocationsInBackground: Bool
    /// Called after every exchange with a token or revocation endpoint, once its result has been stored.
    public var tokenEndpointListener: (any TokenEndpointResponseListener)?
    /// Whether ``tokenEndpointListener`` gets the bodies of replies, with the tokens in them.
    public var revealsSecretBodiesToListener: Bool
    /// How long a handler may take for one question. Then it is cancelled, and counts as one that said *not now*,
    /// whether it ends or not. Nil: as long as it likes, and callers without a deadline wait with it.
    public var handlerTimeLimit: Duration?
    /// Whether ``UserManager/authorize(_:for:_:baseURL:)`` puts tokens into plain `http` requests to this machine, and
    /// ``UserManager/addProvider(_:issuer:clientID:authentication:scope:redirectURI:dpop:tokenCertificate:)`` takes an issuer there:
    /// for development servers. Any user of the machine can listen on a free port. Nil: if the transport sends such requests.
    public var allowsInsecureLoopback: Bool?
    /// Whether the access token of a dead login is given out until it expires. False: such a login gives nothing at all,
    /// so that no call is made on the user's behalf before a new token is set.
    public var servesTokensOfDeadLogins: Bool
    /// Asked for users whom the vault does not know. Nil: there is no such system.
    public var loginSource: (any LoginSource)?
    /// Where figures go; nil: where the process has configured swift-metrics to send them. `docs/observability.md`
    /// lists them.
    public var metrics: (any MetricsFactory)?
    /// Where spans go; nil: where the process has configured swift-distributed-tracing to send them.
    public var tracer: (any Tracer)?

    /// Spreads retries: a number in 0..<1 for each call.
    public var random: @Sendable () -> Double

    public init(
        stallLimit: Duration? = nil,
        stallPolicy: StallPolicy = .safety,
        recoveryInterval: Duration? = .seconds(2),
        logInLifetime: Duration = .seconds(600),
        revocationLifetime: Duration = .seconds(30 * 86_400),
        retriesRevocationsInBackground: Bool = true,
        tokenEndpointListener: (any TokenEndpointResponseListener)? = nil,
        revealsSecretBodiesToListener: Bool = false,
        handlerTimeLimit: Duration? = .seconds(60),
        allowsInsecureLoopback: Bool? = nil,
        servesTokensOfDeadLogins: Bool = true,
        loginSource: (any LoginSource)? = nil,
        metrics: (any MetricsFactory)? = nil,
        tracer: (any Tracer)? = nil,
        random: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) }
    ) {
        self.stallLimit = stallLimit
        self.stallPolicy = stallPolicy
        self.recoveryInterval = recoveryInterval
        self.logInLifetime = logInLifetime
        self.revocationLifetime = revocationLifetime
        self.retriesRevocationsInBackground = retriesRevocationsInBackground
        self.tokenEndpointListener = tokenEndpointListener
        self.revealsSecretBodiesToListener = revealsSecretBodiesToListener
        self.handlerTimeLimit = handlerTimeLimit
        self.allowsInsecureLoopback = allowsInsecureLoopback
        self.servesTokensOfDeadLogins = servesTokensOfDeadLogins
        self.loginSource = loginSource
        self.metrics = metrics
        self.tracer = tracer
        self.random = random
    }

    /// The default of ``handlerTimeLimit``.
    package static let usualHandlerTimeLimit = Duration.seconds(60)

    /// How to treat a living process that has begun a renewal and has stalled.
    public enum StallPolicy: String, Sendable, Equatable, CaseIterable {
        /// Nothing: it may still send. Callers get an error, and an operator decides.
        case safety
        /// Its renewal is taken over, in doubt. If it resumes after all, the provider sees the refresh token twice, and
        /// may end the login for it.
        case availabilityOverSafety
    }
}
