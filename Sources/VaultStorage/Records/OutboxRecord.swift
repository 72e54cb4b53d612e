package import VaultCrypto

/// A revocation (RFC 7009) that the server has still to confirm. Sealed under a root key, not under the user's: it
/// outlives the login, and an erased user's tokens are revoked too.
package struct OutboxRecord: Equatable, Sendable {
    package var provider: ProviderHandle
    package var login: LoginHandle?
    package var user: UserHandle?
    package var refreshToken: SecretBytes?
    package var accessToken: SecretBytes?
    /// For servers that want a proof also at the revocation endpoint.
    package var dpopPrivateKey: SecretBytes?
    /// The latest DPoP nonce of each origin.
    package var nonces: [String: String]
    package var createdAt: Timestamp

    package init(
        provider: ProviderHandle, login: LoginHandle?, user: UserHandle?, refreshToken: SecretBytes?,
        accessToken: SecretBytes?, dpopPrivateKey: SecretBytes? = nil, nonces: [String: String] = [:],
        createdAt: Timestamp
    ) {
        self.provider = provider
        self.login = login
        self.user = user
        self.refreshToken = refreshToken
        self.accessToken = accessToken
        self.dpopPrivateKey = dpopPrivateKey
        self.nonces = nonces
        self.createdAt = createdAt
    }
}

package struct StoredOutboxEntry: Equatable, Sendable {
    package let handle: OutboxHandle
    package let nextAttemptAt: Timestamp
    /// Attempts that failed so far.
    package let attempts: Int
    package let record: OutboxRecord
}

/// What became of an attempt to revoke.
package enum OutboxResolution: Hashable, Sendable {
    /// The server confirmed; the entry is deleted and ``AuditKind/revocationConfirmed`` recorded.
    case done
    case retry(at: Timestamp)
    /// Nothing more will be tried; ``AuditKind/revocationAbandoned`` is recorded.
    case abandoned
}
