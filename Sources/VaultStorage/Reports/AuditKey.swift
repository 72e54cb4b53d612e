/// The key of the audit trail.
package struct AuditKeyStatus: Equatable, Sendable {
    /// Nil for a vault's first.
    package let madeAt: Timestamp?
    /// Keys of earlier parts of the trail that are still there.
    package let formerKeys: Int
}
