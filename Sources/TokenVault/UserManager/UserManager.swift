public import OAuthClient
package import VaultStorage

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
/// ### Making one
/// - ``init(vault:transport:refreshHandler:options:sessionHandler:)``
/// - ``setSessionHandler(_:)``
/// - ``vault``
/// ### Providers
/// - ``addProvider(_:issuer:clientID:authentication:scope:redirectURI:dpop:tokenCertificate:)``
/// ### Logging in
/// - ``beginLogIn(_:)``
/// - ``completeLogIn(_:boundTo:expectedUserId:of:)``
/// - ``logIn(_:authorizationCode:codeVerifier:dpopKey:nonce:)``
/// - ``beginDeviceLogIn(_:usesPKCE:)``
/// - ``completeDeviceLogIn(_:)``
/// - ``addLogin(userId:provider:accessToken:expiresAt:refreshToken:scope:tokenType:dpopKey:label:variables:)``
/// ### Tokens
/// - ``accessToken(for:_:)``
/// - ``accessToken(userId:minimumValidity:deadline:)``
/// - ``validAccessToken(for:_:)``
/// - ``updateAccessToken(userId:)``
/// - ``updateAccessToken(for:accessToken:expiresAt:refreshToken:)``
/// - ``updateAccessToken(userId:accessToken:expiresAt:refreshToken:)``
/// - ``reportRejected(_:)``
/// ### Labels and metadata
/// - ``setLabel(_:of:)``
/// - ``setMetadata(_:of:)``
/// ### Tokens of the client itself
/// - ``clientToken(provider:_:parameters:dpop:)``
/// - ``reportRejected(clientToken:)``
/// ### Requests to APIs
/// - ``authorize(_:for:_:baseURL:)``
/// - ``authorize(_:with:baseURL:)``
/// - ``authorize(_:withClientToken:baseURL:)``
/// ### Tenants
/// - ``scoped(to:)``
/// - ``eraseTenant(_:progress:)``
/// ### Watching
/// - ``sessionStates(of:)``
/// - ``events(of:)``
/// - ``events(userId:)``
/// - ``events(after:of:)``
/// ### Ends
/// - ``logOut(_:revokes:)``
/// - ``terminate(_:reason:)``
/// - ``endLogins(where:by:progress:)``
/// - ``disableUser(_:)``
/// - ``enableUser(_:)``
/// - ``eraseUser(_:)``
public final class UserManager: Sendable {
    public let vault: Vault
    let engine: RenewalEngine
    let recovery: Recovery
    let clientTokens: ClientTokens
    private let backgroundRecovery: BackgroundRecovery?
    /// The nonces and clocks of resource servers, for proofs. In memory: forgetting them costs one more request.
    let resourceServers: ResourceServers
    private let pulls: LoginPulls
    /// How callers name users and providers.
    let names: TenantScope

    /// - Parameters:
    ///   - vault: Open. Any number of managers may share it.
    ///   - transport: Carries requests to providers.
    ///   - refreshHandler: Asked for logins without a refresh token, and notified when a login is dead.
    ///   - options: Pauses, limits and policies.
    ///   - sessionHandler: Decides how each session is renewed, see ``setSessionHandler(_:)``.
    public init(
        vault: Vault,
        transport: any HTTPTransport,
        refreshHandler: (any TokenRefreshHandler)? = nil,
        options: UserManagerOptions = .init(),
        sessionHandler: (any SessionHandler)? = nil
    ) async throws {
        try vault.requireOpen()
        self.vault = vault
        names = .whole
        pulls = LoginPulls()
        let context = RenewalContext(
            vault: vault, transport: transport, handler: refreshHandler, sessionHandler: sessionHandler,
            options: options)
        engine = RenewalEngine(context)
        recovery = Recovery(engine)
        clientTokens = ClientTokens(context)
        resourceServers = ResourceServers(ServerNonces(gate: NonceGate(vault.timeSource)))
        // Before anything is served: tokens that came and could not be stored.
        let restored = await context.restoreSpooled()
        // Checked here, on the connection that is already open; usually there is none.
        let hasNoOpenIntent = await recovery.hasNoOpenIntent
        let isQuiet = restored.isComplete && hasNoOpenIntent
        backgroundRecovery = options.recoveryInterval.map { [recovery] in
            BackgroundRecovery(recovery, interval: $0, startsAtOnce: !isQuiet)
        }
        let hasDueRevocations = await context.revoker.hasDueRevocations
        if options.retriesRevocationsInBackground, hasDueRevocations { context.revoker.revokeSoon() }
        await context.announceUnreportedFailures()
    }

    /// The same manager with other names.
    init(_ manager: UserManager, names: TenantScope) {
        vault = manager.vault
        engine = manager.engine
        recovery = manager.recovery
        clientTokens = manager.clientTokens
        backgroundRecovery = manager.backgroundRecovery
        resourceServers = manager.resourceServers
        pulls = manager.pulls
        self.names = names
    }

    package var context: RenewalContext { engine.context }
    /// The tenant whose users this manager names; nil for a manager of all users.
    package var tenant: Tenant? { names.tenant }

    /// The login that is meant. Users that the vault does not know are pulled from the app's source, if there is one.
    func session(of login: LoginRef, withKey: Bool = false) async throws -> SessionSnapshot {
        let meant = try names.login(login)
        do {
            return try await vault.session(of: meant, withKey: withKey)
        } catch let error as VaultError where error.code == .unknownUser {
            guard let source = context.options.loginSource, let userId = login.userId, names == .whole else {
                throw error
            }
            try await pulls.pull(userId, from: source, into: vault)
            return try await vault.session(of: meant, withKey: withKey)
        }
    }

    /// The login that is meant. One that is named by its id is not read.
    package func handle(of login: LoginRef) async throws -> LoginHandle {
        try await vault.handle(of: names.login(login))
    }

    var revoker: Revoker { context.revoker }

    /// Installs a handler in this manager, or removes the installed one.
    ///
    /// The previous handler's unanswered questions become void; the new one is asked instead. Without a new one the
    /// renewals in progress continue as they would have without any.
    public func setSessionHandler(_ handler: (any SessionHandler)?) {
        context.sessionHandlers.install(handler)
    }
}

extension UserManager: PublicRendering {
    var shown: ShownFields { [:] }
}
