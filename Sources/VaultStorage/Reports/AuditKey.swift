/// The key of the audit trail.
package struct AuditKeyStatus: Equatable, Sendable {
    /// Nil for a vault's first key.
    package let madeAt: Timestamp?
    /// The number of keys of earlier parts of the trail that still exist.
    package let formerKeys: Int
}
