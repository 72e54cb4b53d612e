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
}
