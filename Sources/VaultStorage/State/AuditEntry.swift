package import VaultCrypto

/// One row of the audit trail.
package struct AuditEntry: Sendable {
    package let sequence: Int64
    package let time: Timestamp
    package let kind: AuditKind
    package let user: UserHandle?
    package let login: LoginHandle?
    /// The provider that the row itself is about.
    package let provider: ProviderHandle?
    /// The provider of the row's login, if it is known.
    package internal(set) var loginProvider: ProviderHandle?
    /// The revision of the user or provider after the event.
    package let revision: Int64?
    package let detail: [AuditEvent.Detail]
    /// The state of the login after the event.
    package let look: LoginSnapshot?
    /// What the provider's reply showed of its rules.
    package let facts: ReplyFacts?
    /// The result of a pruning of the trail.
    package let pruning: TrailPruning?
    /// The person who caused the event; nil for a service, or if unknown.
    package let actor: AuditActor?
    /// The link that binds the row to all rows before it. In another trail, the row with the same number has another
    /// link.
    package let link: AuditMAC?
    /// Set if the detail cannot be opened.
    package let damage: StoreError?
}
