public import FoundationEssentials
public import OAuthClient

/// A good access token, with what is needed to use it. The token itself is redacted in every rendering and leaves
/// only through `accessToken.reveal()`.
public struct VaultToken: Sendable {
    public let accessToken: AccessToken
    public let tokenType: TokenType
    /// When it runs out; nil when the provider does not say.
    public let expiresAt: Date?
    public let scope: String?
    public let login: LoginID
    /// Which link of the login's chain it is. ``UserManager/reportRejected(_:)`` renews once per generation.
    public let generation: Int
    /// Whether it is not in the vault yet: it came while the vault could not be written, and is kept in the spool until it
    /// can. It is good to be used; calls that only read the vault, and other processes, do not see it.
    public let isVolatile: Bool

    init(
        accessToken: AccessToken, tokenType: TokenType, expiresAt: Date?, scope: String?, login: LoginID,
        generation: Int, isVolatile: Bool = false
    ) {
        self.accessToken = accessToken
        self.tokenType = tokenType
        self.expiresAt = expiresAt
        self.scope = scope
        self.login = login
        self.generation = generation
        self.isVolatile = isVolatile
    }
}
