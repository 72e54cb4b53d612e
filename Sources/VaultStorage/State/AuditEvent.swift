/// An event for the audit trail, recorded in the transaction in which it happens.
package struct AuditEvent: Hashable, Sendable {
    package struct Detail: Hashable, Sendable {
        package let key: String
        package let value: String

        package init(_ key: String, _ value: String) {
            self.key = key
            self.value = value
        }
    }

    /// The maximum size of all keys and values of a row.
    package static let maximumDetailByteCount = 65_536

    package let kind: AuditKind
    /// Sealed, but never a secret, a token or a user id: audit rows outlive an erased user.
    package let detail: [Detail]
    /// The state of the login afterwards. The store adds it.
    package internal(set) var look: LoginSnapshot?
    /// The result of a pruning of the trail.
    package internal(set) var pruning: TrailPruning?
    /// The provider of the event's login. The store adds it.
    var provider: ProviderHandle?
    /// The fence of the renewal that the event ends. The store adds it.
    var fence: Int64?

    /// What the reply that led to the event showed.
    package let facts: ReplyFacts?

    package init(_ kind: AuditKind, _ detail: [Detail] = [], facts: ReplyFacts? = nil) {
        self.kind = kind
        self.detail = detail
        self.facts = facts
    }
}
