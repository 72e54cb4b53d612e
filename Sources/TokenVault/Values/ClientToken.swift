public import FoundationEssentials
public import OAuthClient
import VaultStorage

/// A good access token of the client itself (RFC 6749 §4.4), with what is needed to use it. It belongs to no user and to
/// no login. The token is redacted in every rendering and leaves only through `accessToken.reveal()`.
public struct ClientToken: Sendable {
    public let accessToken: AccessToken
    public let tokenType: TokenType
    /// When it expires; nil if unknown.
    public let expiresAt: Date?
    package let expirySource: ExpirySource
    /// Its scope; nil if neither the request nor the provider named one.
    public let scope: Scope?
    /// The provider's name in the vault.
    public internal(set) var provider: String
    /// The one resource that it is for (RFC 8707); nil: the provider decides.
    public var resource: String? { key.target.resource }
    /// Rises with each token that this process fetches. ``UserManager/reportRejected(clientToken:)`` fetches
    /// another one once per generation.
    public let generation: Int

    /// The random name of the provider's row, which no two tenants share.
    package var providerHandle: String { key.provider.text }

    let key: ClientTokenKey
    let obtainedAt: Timestamp
    /// The key to which the token is bound; nil: none.
    let dpopKey: DPoPKey?
}

/// Which of a client's tokens is meant: one is fetched for each.
struct ClientTokenKey: Hashable, Sendable {
    let provider: ProviderHandle
    /// Of the provider's row: a token that was fetched for another registration is another token.
    let revision: Int64
    let target: TokenTarget
    let parameters: [FormParameter]
    let isBound: Bool
}

extension ClientToken: PublicRendering {
    var shown: ShownFields {
        [
            "accessToken": accessToken, "tokenType": tokenType, "expiresAt": expiresAt, "scope": scope,
            "provider": ShownFields.name(provider), "resource": resource, "generation": generation,
        ]
    }
}
