package import VaultCrypto

/// A server's reply that the vault could not store at once. The spool keeps it until the vault can.
package struct SpooledReply: Equatable, Sendable {
    package var login: LoginHandle
    package var user: UserHandle
    package var provider: ProviderHandle?
    /// The link whose refresh token was spent.
    package var position: ChainPosition
    /// The fence of the intent under which it was sent.
    package var fence: Int64
    package var accessToken: SecretBytes?
    package var tokenType: String
    package var scope: String?
    package var obtainedAt: Timestamp
    package var expiresAt: Timestamp?
    package var refreshToken: SecretBytes?
    package var refreshExpiresAt: Timestamp?
    package var idToken: SecretBytes?
    /// A revocation may need the proof when the login no longer exists.
    package var dpopPrivateKey: SecretBytes?
    /// The latest DPoP nonce of each origin.
    package var nonces: [String: String]
    /// The one resource (RFC 8707) that the access token was asked for; nil if it is the login's own token.
    package var resource: String?
    /// The narrower scope that was requested; nil if it is the login's own token.
    package var requestedScope: String?
    /// Whether ``expiresAt`` is the assumption of the provider's profile.
    package var isExpiryAssumed = false
    /// Members of the reply that the profile keeps.
    package var attributes: [String: String] = [:]
    /// Whether the reply named a next refresh token that cannot be sent. Then the spent one stays and is in doubt.
    package var hasLostSuccessor = false

    package init(
        login: LoginHandle, user: UserHandle, provider: ProviderHandle?, position: ChainPosition, fence: Int64,
        accessToken: SecretBytes?, tokenType: String, scope: String? = nil, obtainedAt: Timestamp,
        expiresAt: Timestamp? = nil, refreshToken: SecretBytes? = nil, refreshExpiresAt: Timestamp? = nil,
        idToken: SecretBytes? = nil, dpopPrivateKey: SecretBytes? = nil, nonces: [String: String] = [:],
        resource: String? = nil, requestedScope: String? = nil
    ) {
        self.login = login
        self.user = user
        self.provider = provider
        self.position = position
        self.fence = fence
        self.accessToken = accessToken
        self.tokenType = tokenType
        self.scope = scope
        self.obtainedAt = obtainedAt
        self.expiresAt = expiresAt
        self.refreshToken = refreshToken
        self.refreshExpiresAt = refreshExpiresAt
        self.idToken = idToken
        self.dpopPrivateKey = dpopPrivateKey
        self.nonces = nonces
        self.resource = resource
        self.requestedScope = requestedScope
    }
}
