package import VaultCrypto

/// What an access token is for, if not for everything that was granted: one resource (RFC 8707), a narrower scope, or both.
package struct TokenTarget: Hashable, Sendable {
    package var resource: String?
    package var scope: String?

    package init(resource: String? = nil, scope: String? = nil) {
        self.resource = resource
        self.scope = scope
    }
}

/// An access token of a login: its own, or one beside it of the same grant.
///
/// The records of a session keep those beside it; the fields of ``SessionRecord`` are the login's own.
package struct TokenRecord: Equatable, Sendable {
    package var target: TokenTarget
    package var accessToken: SecretBytes
    /// As in ``SessionRecord/tokenType``.
    package var tokenType: String
    /// The scope that the server told.
    package var scope: String?
    package var obtainedAt: Timestamp
    package var expiresAt: Timestamp?
    package var isExpiryAssumed = false
    /// The generation that its renewal stored. Each brings one token.
    package var generation: Int64
    /// A resource server refused it.
    package var isRejected = false

    package init(
        target: TokenTarget, accessToken: SecretBytes, tokenType: String = "Bearer", scope: String? = nil,
        obtainedAt: Timestamp, expiresAt: Timestamp? = nil, generation: Int64
    ) {
        self.target = target
        self.accessToken = accessToken
        self.tokenType = tokenType
        self.scope = scope
        self.obtainedAt = obtainedAt
        self.expiresAt = expiresAt
        self.generation = generation
    }
}
