/// Something to be told in the audit trail, in the transaction in which it happens.
package struct AuditEvent: Hashable, Sendable {
    package struct Detail: Hashable, Sendable {
        package let key: String
        package let value: String

        package init(_ key: String, _ value: String) {
            self.key = key
            self.value = value
        }
    }

    /// Of all keys and values of a row.
    package static let maximumDetailByteCount = 65_536

    package let kind: AuditKind
    /// Sealed, but never a secret, a token or a user id: audit rows outlive an erased user.
    package let detail: [Detail]
    /// How the login stands afterwards. The store adds it.
    package internal(set) var look: LoginSnapshot?
    /// What a pruning of the trail has left.
    package internal(set) var pruning: TrailPruning?
    /// Of the login that it is about. The store adds it.
    var provider: ProviderHandle?
    /// Of the renewal that it ends. The store adds it.
    var fence: Int64?

    package init(_ kind: AuditKind, _ detail: [Detail] = []) {
        self.kind = kind
        self.detail = detail
    }
}
