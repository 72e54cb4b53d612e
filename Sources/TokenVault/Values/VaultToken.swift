public import FoundationEssentials
public import OAuthClient
import VaultStorage

/// A good access token, with what is needed to use it. The token itself is redacted in every rendering and leaves
/// only through `accessToken.reveal()`.
public struct VaultToken: Sendable {
    public let accessToken: AccessToken
    public let tokenType: TokenType
    /// When it expires; nil if unknown.
    public let expiresAt: Date?
    package let expirySource: ExpirySource
    /// Its scope; nil if unknown.
    public var scope: Scope? { Scope(stored: scopeText) }
    public let login: LoginID
    /// Which link of the login's chain it is. ``UserManager/reportRejected(_:)`` renews once per generation.
    public let generation: Int
    /// Whether it is not in the vault yet: it came while the vault could not be written, and is kept in the spool until
    /// it can. It is good to be used; calls that only read the vault, and other processes, do not see it.
    public let isVolatile: Bool
    /// Members of the provider's replies that its profile keeps, such as Salesforce's `instance_url`.
    public let attributes: [String: String]
    /// The one resource that it is for (RFC 8707), because it was asked for or because its login is; nil: for whatever was
    /// granted.
    public var resource: String? { target.resource ?? resourceOfLogin }
    /// The scope that it was asked for, if that is not all that was granted.
    package var requestedScope: Scope? { Scope(stored: target.scope) }

    /// Read only when someone asks: a token is made at every read.
    private let scopeText: String?
    let target: TokenTarget
    /// The protected resource to which all tokens of its login go, and nowhere else; nil: the provider decides.
    let resourceOfLogin: String?
    /// Whether it came after a doubt that is not known to have passed.
    let cameAfterDoubt: Bool
    /// Whose profile says how an API refuses it.
    let provider: ProviderHandle?

    init(
        accessToken: AccessToken, tokenType: TokenType, expiresAt: Timestamp?, isExpiryAssumed: Bool, scope: String?,
        login: LoginID, generation: Int64, isVolatile: Bool = false, attributes: [String: String],
        target: TokenTarget, resourceOfLogin: String?, cameAfterDoubt: Bool = false, provider: ProviderHandle?
    ) {
        self.accessToken = accessToken
        self.tokenType = tokenType
        self.expiresAt = expiresAt?.date
        expirySource = ExpirySource(expiresAt, isAssumed: isExpiryAssumed)
        scopeText = scope
        self.login = login
        self.generation = Int(generation)
        self.isVolatile = isVolatile
        self.attributes = attributes
        self.target = target
        self.resourceOfLogin = resourceOfLogin
        self.cameAfterDoubt = cameAfterDoubt
        self.provider = provider
    }
}

extension VaultToken: PublicRendering {
    var shown: ShownFields {
        [
            "accessToken": accessToken, "tokenType": tokenType, "expiresAt": expiresAt, "scope": scope,
            "resource": resource, "login": login, "generation": generation, "isVolatile": isVolatile,
            "attributes": attributes,
        ]
    }
}
