public import FoundationEssentials
public import OAuthClient
import VaultCrypto
import VaultStorage

extension UserManager {
    /// Adds a login whose tokens the app obtained elsewhere. Nothing is sent.
    ///
    /// - Parameters:
    ///   - userId: The user, as the app calls them. They need not exist yet.
    ///   - name: The provider's name in this vault; nil for tokens that only the app can renew, through its
    ///     ``TokenRefreshHandler``.
    ///   - accessToken: May be left out if there is a refresh token: then the first call renews.
    ///   - expiresAt: By default the `exp` of a token that is a JWT; nil if that is unknown, too.
    ///   - refreshToken: Needs a provider. From now on this vault alone must use it.
    ///   - scope: The scope of the tokens, if known.
    ///   - tokenType: By default `Bearer`, or `DPoP` with a key.
    ///   - dpopKey: The key to which the tokens are bound, if they are.
    ///   - label: Distinguishes this user's logins.
    ///   - variables: Values that the provider's profile wants of each log-in, see ``LogInRequest``.
    public func addLogin(
        userId: String, provider name: String? = nil, accessToken: AccessToken? = nil, expiresAt: Date? = nil,
        refreshToken: RefreshToken? = nil, scope: Scope? = nil, tokenType: TokenType? = nil,
        dpopKey: DPoPKey? = nil, label: String? = nil, variables: [String: String] = [:]
    ) async throws -> Login {
        let (userId, name) = (try names.user(userId).text, name.map { names.provider($0) })
        if let name { try ArgumentCheck.requireOneTenant(userId, name) }
        guard accessToken != nil || refreshToken != nil else {
            throw VaultError(.invalidArgument, "a login needs an access token or a refresh token")
        }
        guard refreshToken == nil || name != nil else {
            throw VaultError(.invalidArgument, "a refresh token needs the provider that issued it")
        }
        guard variables.isEmpty || name != nil else {
            throw VaultError(
                .invalidArgument, "a login without a provider has no variables",
                hint: "name the provider whose profile declares them: --provider NAME")
        }
        var provider: StoredProvider?
        if let name { provider = try await VaultError.translating { try await vault.store.provider(named: name) } }
        let now = vault.now
        let expiry = try GivenExpiry(expiresAt ?? accessToken?.claimedExpiry, now: now).checked()
        var session = SessionRecord(
            state: .established, accessToken: accessToken.map { SecretBytes(utf8: $0.reveal()) },
            tokenType: (tokenType ?? (dpopKey == nil ? .bearer : .dpop)).storedForm, scope: scope?.description,
            createdAt: now, obtainedAt: now, expiresAt: expiry)
        session.label = try ArgumentCheck.label(label)
        session.grantedScope = session.scope
        if let provider {
            session.attributes = try provider.record.valuesForLogIn(variables)
        }
        let draft = LoginDraft(
            userId: userId, provider: provider?.handle, session: session,
            refresh: refreshToken.map { RefreshRecord(refreshToken: SecretBytes(utf8: $0.reveal())) },
            key: dpopKey.map { KeyRecord($0) })
        return try await VaultError.translating {
            names.plain(await vault.describe(try await vault.insert(draft), isNew: true))
        }
    }
}
