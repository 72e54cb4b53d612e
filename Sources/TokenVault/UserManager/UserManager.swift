public import OAuthClient
import VaultStorage

/// Gives out good access tokens for the users of a vault, and renews them when needed.
///
/// ```swift
/// let users = try await UserManager(vault: vault, transport: AsyncHTTPTransport())
/// let token = try await users.accessToken(userId: "alice")
/// ```
///
/// A user may have any number of logins; each is a chain of its own, and what happens to one leaves the others alone.
/// A call that must choose among several throws ``VaultError/Code/ambiguousLogin``; it never guesses.
///
/// Every method throws ``VaultError`` or `CancellationError`.
///
/// ## Topics
/// ### Logging in
/// - ``beginLogIn(userId:provider:redirectURI:scope:dpop:label:loginHint:)``
/// - ``completeLogIn(callbackURL:)``
/// ### Tokens
/// - ``accessToken(userId:minimumValidity:deadline:)``
/// - ``updateAccessToken(userId:accessToken:expiresAt:refreshToken:)``
/// - ``reportRejected(_:)``
/// ### Requests to APIs
/// - ``authorize(_:userId:minimumValidity:deadline:)``
/// - ``read(_:to:authorizedWith:startedAt:)``
/// ### Ends
/// - ``logOut(login:)``
/// - ``disableUser(_:)``
/// - ``eraseUser(_:)``
/// - ``retryRevocations(_:limit:)``
public final class UserManager: Sendable {
    public let vault: Vault
    let engine: RenewalEngine

    /// - Parameters:
    ///   - vault: Open. Any number of managers may share it.
    ///   - transport: Carries requests to providers.
    ///   - refreshHandler: Asked for logins without a refresh token, and told when a login has died.
    ///   - options: How it works.
    public init(
        vault: Vault,
        transport: any HTTPTransport,
        refreshHandler: (any TokenRefreshHandler)? = nil,
        options: UserManagerOptions = .init()
    ) async throws {
        try vault.requireOpen()
        self.vault = vault
        self.engine = RenewalEngine(vault: vault, transport: transport, handler: refreshHandler, options: options)
        if options.retriesRevocationsInBackground { engine.revokeSoon() }
    }
}

/// How a ``UserManager`` works.
public struct UserManagerOptions: Sendable {
    /// How long callers wait for a renewal that another living process has begun and does not finish. Nothing is
    /// ever taken from a living process: after this time callers get ``VaultError/Code/tryLater``.
    public var stallLimit: Duration
    /// How long a log-in that has begun can be completed.
    public var logInLifetime: Duration
    /// How long a revocation that no provider confirms is tried again. After that its tokens are destroyed here, which is
    /// written to the audit trail, and live on at the provider until they run out.
    public var revocationLifetime: Duration
    /// Whether due revocations are retried when the manager is made and after each log-out. Without it they wait for
    /// ``UserManager/retryRevocations(_:limit:)``.
    public var retriesRevocationsInBackground: Bool
    /// Is told of every exchange with a token or revocation endpoint, after its result has been stored.
    public var tokenEndpointListener: (any TokenEndpointResponseListener)?
    /// Whether ``tokenEndpointListener`` gets the bodies of replies, with the tokens in them.
    public var revealsSecretBodiesToListener: Bool

    /// Spreads retries: a number in 0..<1 for each call.
    public var random: @Sendable () -> Double

    public init(
        stallLimit: Duration = .seconds(80),
        logInLifetime: Duration = .seconds(600),
        revocationLifetime: Duration = .seconds(30 * 86_400),
        retriesRevocationsInBackground: Bool = true,
        tokenEndpointListener: (any TokenEndpointResponseListener)? = nil,
        revealsSecretBodiesToListener: Bool = false,
        random: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) }
    ) {
        self.stallLimit = stallLimit
        self.logInLifetime = logInLifetime
        self.revocationLifetime = revocationLifetime
        self.retriesRevocationsInBackground = retriesRevocationsInBackground
        self.tokenEndpointListener = tokenEndpointListener
        self.revealsSecretBodiesToListener = revealsSecretBodiesToListener
        self.random = random
    }
}
