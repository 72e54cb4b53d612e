package import VaultCrypto

/// What must be remembered between sending a user to the authorization server and his coming back; sealed, found by
/// the blind index of ``state``, and taken once.
package struct AuthorizationRequestRecord: Equatable, Sendable {
    package var state: SecretBytes
    package var codeVerifier: SecretBytes
    package var provider: ProviderHandle
    package var userID: String
    package var redirectURI: String?
    package var scope: String?
    package var dpopPrivateKey: SecretBytes?
    /// The latest DPoP nonce of each origin, from a pushed request.
    package var nonces: [String: String] = [:]
    package var label: String?
    package var createdAt: Timestamp
    package var expiresAt: Timestamp

    package init(
        state: SecretBytes, codeVerifier: SecretBytes, provider: ProviderHandle, userID: String,
        redirectURI: String? = nil, scope: String? = nil, dpopPrivateKey: SecretBytes? = nil, label: String? = nil,
        createdAt: Timestamp, expiresAt: Timestamp
    ) {
        self.state = state
        self.codeVerifier = codeVerifier
        self.provider = provider
        self.userID = userID
        self.redirectURI = redirectURI
        self.scope = scope
        self.dpopPrivateKey = dpopPrivateKey
        self.label = label
        self.createdAt = createdAt
        self.expiresAt = expiresAt
    }
}
