package import VaultCrypto

/// A revocation (RFC 7009) that the server must still confirm. It is sealed under a root key, not under the user's: it
/// outlives the login, and an erased user's tokens are revoked too.
package struct OutboxRecord: Equatable, Sendable {
    /// The handle of the queued entry: the caller that queues a revocation can look it up at once.
    package let handle: OutboxHandle
    package var provider: ProviderHandle
    package var login: LoginHandle?
    package var user: UserHandle?
    package var refreshToken: SecretBytes?
    package var accessToken: SecretBytes?
    /// The key for servers that also want a proof at the revocation endpoint.
    package var dpopPrivateKey: SecretBytes?
    /// The latest DPoP nonce of each origin.
    package var nonces: [String: String]
    /// Attributes of the login that the provider's address may need.
    package var attributes: [String: String]
    package var createdAt: Timestamp

    package init(
        handle: OutboxHandle = .random(), provider: ProviderHandle, login: LoginHandle?, user: UserHandle?,
        refreshToken: SecretBytes?,
        accessToken: SecretBytes?, dpopPrivateKey: SecretBytes? = nil, nonces: [String: String] = [:],
        attributes: [String: String] = [:], createdAt: Timestamp
    ) {
        self.handle = handle
        self.provider = provider
        self.login = login
        self.user = user
        self.refreshToken = refreshToken
        self.accessToken = accessToken
        self.dpopPrivateKey = dpopPrivateKey
        self.nonces = nonces
        self.attributes = attributes
        self.createdAt = createdAt
    }
}

package struct StoredOutboxEntry: Equatable, Sendable {
    package let handle: OutboxHandle
    package let nextAttemptAt: Timestamp
    /// The number of attempts that failed so far.
    package let attempts: Int
    package let record: OutboxRecord

    package init(handle: OutboxHandle, nextAttemptAt: Timestamp, attempts: Int, record: OutboxRecord) {
        self.handle = handle
        self.nextAttemptAt = nextAttemptAt
        self.attempts = attempts
        self.record = record
    }
}

/// One row of the outbox. A damaged row is listed with its error and hides no later row.
package struct OutboxListing: Equatable, Sendable {
    /// The row's position, where a page may end.
    package let sequence: Int64
    /// Nil if the handle cannot be read.
    package let handle: OutboxHandle?
    /// Nil if the row cannot be opened.
    package let entry: StoredOutboxEntry?
    package let damage: StoreError?
}

/// The outcome of an attempt to revoke.
package enum OutboxResolution: Hashable, Sendable {
    /// The server confirmed; the entry is deleted and ``AuditKind/revocationConfirmed`` recorded.
    case done
    /// Not confirmed yet. The nonces from the reply are kept with the entry.
    case retry(at: Timestamp, nonces: [String: String] = [:])
    /// The server will never confirm, so there are no more attempts. The entry is deleted and
    /// ``AuditKind/revocationAbandoned`` recorded.
    case abandoned
    /// The attempts took too long, so there are no more. Recorded like ``abandoned``.
    case expired
    /// Sending it would end the chain that has replaced this one, so it is not attempted. Recorded like ``abandoned``.
    case superseded
}
