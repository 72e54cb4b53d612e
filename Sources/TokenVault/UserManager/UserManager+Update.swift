public import FoundationEssentials
public import OAuthClient
import VaultCrypto
import VaultStorage

extension UserManager {
    /// **Stores** a new access token for this login, and with it lifts the *refresh failed* flag and every postponement.
    /// Nothing is sent, and no refresh token is spent: ``accessToken(for:_:)`` with ``TokenRequest/renewed`` renews.
    ///
    /// - Parameters:
    ///   - login: The login that gets it.
    ///   - accessToken: The new token.
    ///   - expiresAt: By default the `exp` of a token that is a JWT. If neither is given, the token is used until a
    ///   resource server is reported to refuse it. One that is more than ten years away counts as ten years.
    ///   - refreshToken: Starts a new chain. Without one, a living chain keeps its refresh token; a dead one no longer
    ///     has one, and the login is renewed by the ``TokenRefreshHandler``.
    @discardableResult
    public func updateAccessToken(
        for login: LoginRef, accessToken: AccessToken, expiresAt: Date? = nil, refreshToken: RefreshToken? = nil
    ) async throws -> Login {
        let now = vault.now
        let expiry = try GivenExpiry(expiresAt ?? accessToken.claimedExpiry, now: now).checked()
        let updated: UpdatedLogin
        do {
            updated = try await vault.change(names.login(login)) { state in
                try state.requireActive(now: now)
                state.set(accessToken, expiresAt: expiry, refreshToken: refreshToken, now: now)
                return UpdatedLogin(state: state)
            }
        } catch let error as VaultError where error.code == .userDisabled || error.code == .notLoggedIn {
            if let meant = try? await handle(of: login) {
                await vault.sessions.post(.unusableToken(login: meant, error.code))
            }
            throw error
        }
        vault.superseding.fire([updated.state.handle])
        return names.plain(await vault.describe(updated.state))
    }

    /// **Stores** a new access token for this user's only login, which exists: `addLogin` makes it.
    /// See ``updateAccessToken(for:accessToken:expiresAt:refreshToken:)``.
    ///
    /// ```swift
    /// try await users.updateAccessToken(userId: "alice", accessToken: AccessToken("eyJhbGciOi"))
    /// ```
    ///
    /// - Warning: ``updateAccessToken(userId:)``, without a token, does something else: it renews at the provider.
    @discardableResult
    public func updateAccessToken(
        userId: String, accessToken: AccessToken, expiresAt: Date? = nil, refreshToken: RefreshToken? = nil
    ) async throws -> Login {
        try await updateAccessToken(
            for: .user(userId), accessToken: accessToken, expiresAt: expiresAt, refreshToken: refreshToken)
    }
}

/// Passes a login from the writer to the caller, through code that copies it without knowing its type.
private final class UpdatedLogin: Sendable {
    let state: LoginState

    init(state: LoginState) { self.state = state }
}

extension LoginState {
    /// Sets a token from the app. It wins over every renewal of the chain that it replaces.
    mutating func set(_ accessToken: AccessToken, expiresAt: Timestamp?, refreshToken: RefreshToken?, now: Timestamp) {
        let startsChain = refreshToken != nil || refresh?.refreshToken == nil || session.failure?.isDead == true
        replaceAccessToken(SecretBytes(utf8: accessToken.reveal()), obtainedAt: now, expiresAt: expiresAt)
        if startsChain {
            refresh = refreshToken.map {
                RefreshRecord(refreshToken: SecretBytes(utf8: $0.reveal())).keepingReplaced(of: refresh)
            }
            key = nil
            session.resourceTokens = []
            session.attributes = [:]
            session.grantedAt = nil
            // Another system had the former chain.
            session.origin = nil
            session.doubtCause = nil
            session.cameAfterDoubt = false
            session.tokenType = TokenType.bearer.storedForm
            position = position.newChain
            intent = nil
        } else {
            // The refresh token stays, and with it a renewal in progress: its reply holds the only next one.
            position = position.successor
            if intent?.isAsking == true { intent = nil } else { intent?.generation = position.generation }
        }
        auditEvents.append(AuditEvent(.tokenUpdated))
    }
}
