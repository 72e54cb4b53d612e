public import FoundationEssentials
public import OAuthClient
public import TokenVault
package import VaultAdministration
import VaultCrypto
import VaultStorage

/// A login that leaves a vault, with its tokens.
///
/// No rendering shows the tokens or the user.
public struct ExportedLogin: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public let id: LoginID
    public let userId: String
    /// The provider's name in the vault.
    public let provider: String
    /// The client registration that the refresh token is bound to.
    public let clientID: ClientID?
    /// The user's id at the provider, where the vault knows it.
    public let subject: String?
    public let label: String?
    public let accessToken: AccessToken?
    public let tokenType: TokenType
    /// When the access token expires; nil if unknown.
    public let expiresAt: Date?
    public let refreshToken: RefreshToken?
    public let refreshExpiresAt: Date?
    public let scope: Scope?
    public let idToken: IDToken?
    /// The key that the tokens are bound to (RFC 9449).
    public let dpopKey: DPoPKey?
    /// The API that the login is for, and to which alone its tokens go (RFC 9728); nil: the provider decides.
    package let resource: String?
    /// Members of the provider's replies that its profile keeps.
    public let attributes: [String: String]
    /// When the tokens were issued; nil if they were imported from a source that did not say.
    public let obtainedAt: Date?
    /// For shapes that require a time: if necessary, when the tokens were imported.
    let knownSince: Date

    /// Nil if a value of the login is not a valid token.
    package init?(_ login: ExportableLogin) {
        let stored = login.stored
        let session = stored.session
        id = LoginID(stored.handle)
        userId = stored.userId
        provider = login.provider
        clientID = try? ClientID(login.clientID)
        subject = session.subject
        label = session.label
        tokenType = TokenType(session.tokenType)
        expiresAt = session.isExpiryAssumed ? nil : session.expiresAt?.date
        refreshExpiresAt = stored.refresh?.refreshExpiresAt?.date
        scope = session.scope.flatMap { try? Scope($0) }
        resource = session.resource
        attributes = session.attributes
        knownSince = session.obtainedAt.date
        obtainedAt = session.isIssueAssumed ? nil : session.obtainedAt.date
        accessToken = session.accessToken.flatMap { AccessToken(stored: $0) }
        refreshToken = stored.refresh?.refreshToken?.string().flatMap { try? RefreshToken($0) }
        idToken = stored.refresh?.idToken?.string().flatMap { try? IDToken($0) }
        dpopKey = stored.key.flatMap { Self.key($0.dpopPrivateKey) }
        let isWhole =
            (accessToken == nil) == (session.accessToken == nil)
            && (refreshToken == nil) == (stored.refresh?.refreshToken == nil) && (dpopKey == nil) == (stored.key == nil)
        guard isWhole, accessToken != nil || refreshToken != nil else { return nil }
    }

    private static func key(_ bytes: SecretBytes) -> DPoPKey? {
        unsafe bytes.withUnsafeBytes { bytes in unsafe try? DPoPKey(rawRepresentation: [UInt8](bytes)) }
    }

    public var description: String { "login \(id)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: [Mirror.Child](), displayStyle: .struct) }
}
