package import VaultCrypto

/// The result of a pruning of the audit trail: the new start of the unbroken chain, and the rows before it that were
/// kept. It is sealed in the audit row that records the pruning.
package struct TrailPruning: Hashable, Sendable {
    /// The first and the last row that this pruning examined.
    package var first: Int64
    /// Rows up to this one were removed, except the kept ones. The chain begins with the next row.
    package var through: Int64
    /// The link of row `through`.
    package var link: AuditMAC
    /// The number of rows that this pruning removed.
    package var removed: Int64
    /// The number of these that did not continue the chain.
    package var damaged: Int64 = 0
    /// The number of rows up to `through` that all prunings kept.
    package var kept: Int64
    /// The exclusive or of the kept rows' marks.
    package var keptMarks: AuditMAC
    /// The numbers of key slots and pending revocations according to the trail up to `through`.
    package var keySlots: Int64
    package var revocations: Int64
}
