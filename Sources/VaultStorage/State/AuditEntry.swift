package import VaultCrypto

/// One row of the audit trail.
package struct AuditEntry: Sendable {
    package let sequence: Int64
    package let time: Timestamp
    package let kind: AuditKind
    package let user: UserHandle?
    package let login: LoginHandle?
    /// That the row itself is about.
    package let provider: ProviderHandle?
    /// Of the login that the row is about, if it is known.
    package internal(set) var loginProvider: ProviderHandle?
    /// The revision of the user, or of the provider, after what the row tells.
    package let revision: Int64?
    package let detail: [AuditEvent.Detail]
    /// How the login stands after what the row records.
    package let look: LoginSnapshot?
    /// What a pruning of the trail has left.
    package let pruning: TrailPruning?
    /// The person who did it; nil: a service did, or it is not known.
    package let actor: AuditActor?
    /// What binds the row to all before it: the same number in another trail has another one.
    package let link: AuditMAC?
    /// Set if the detail cannot be opened.
    package let damage: StoreError?
}
