package import VaultCrypto

/// The target of an access token that does not cover the whole grant: one resource (RFC 8707), a narrower scope, or
/// both.
package struct TokenTarget: Hashable, Sendable {
    package var resource: String?
    package var scope: String?

    package init(resource: String? = nil, scope: String? = nil) {
        self.resource = resource
        self.scope = scope
    }
}

/// An access token of a login: its own, or an additional one of the same grant.
///
/// A session's records hold the additional tokens; the fields of ``SessionRecord`` are the login's own.
package struct TokenRecord: Equatable, Sendable {
    package var target: TokenTarget
    package var accessToken: SecretBytes
    /// As in ``SessionRecord/tokenType``.
    package var tokenType: String
    /// The scope that the server reported.
    package var scope: String?
    package var obtainedAt: Timestamp
    package var expiresAt: Timestamp?
    package var isExpiryAssumed = false
    /// The generation that the token's renewal stored. Each renewal brings one token.
    package var generation: Int64
    /// Whether a resource server refused the token.
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
