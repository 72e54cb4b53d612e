package import VaultCrypto

/// A revocation (RFC 7009) that the server has still to confirm. Sealed under a root key, not under the user's: it
/// outlives the login, and an erased user's tokens are revoked too.
package struct OutboxRecord: Equatable, Sendable {
    /// Under which it is queued: who queues a revocation can ask for it right after.
    package let handle: OutboxHandle
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
        handle: OutboxHandle = .random(), provider: ProviderHandle, login: LoginHandle?, user: UserHandle?,
        refreshToken: SecretBytes?,
        accessToken: SecretBytes?, dpopPrivateKey: SecretBytes? = nil, nonces: [String: String] = [:],
        createdAt: Timestamp
    ) {
        self.handle = handle
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

    package init(handle: OutboxHandle, nextAttemptAt: Timestamp, attempts: Int, record: OutboxRecord) {
        self.handle = handle
        self.nextAttemptAt = nextAttemptAt
        self.attempts = attempts
        self.record = record
    }
}

/// One row of the outbox. A damaged one is listed with what is wrong, and hides nothing after it.
package struct OutboxListing: Equatable, Sendable {
    /// Where a page ends.
    package let sequence: Int64
    /// Nil if not even that can be read.
    package let handle: OutboxHandle?
    /// Nil if the row cannot be opened.
    package let entry: StoredOutboxEntry?
    package let damage: StoreError?
}

/// What became of an attempt to revoke.
package enum OutboxResolution: Hashable, Sendable {
    /// The server confirmed; the entry is deleted and ``AuditKind/revocationConfirmed`` recorded.
    case done
    /// Not confirmed yet; what the reply taught is kept with the entry.
    case retry(at: Timestamp, nonces: [String: String] = [:])
    /// Nothing more will be tried, because the server said that it never will; the entry is deleted and
    /// ``AuditKind/revocationAbandoned`` recorded.
    case abandoned
    /// Nothing more will be tried, because it went on for too long; recorded as ``abandoned`` is.
    case expired
    /// Nothing is tried, because it would end the chain that has taken this one's place; recorded as ``abandoned`` is.
    case superseded
}
