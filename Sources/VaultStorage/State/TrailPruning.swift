package import VaultCrypto

/// What a pruning of the audit trail leaves: where the unbroken chain begins now, and which of the rows before it stayed.
/// It stands, sealed, in the audit row that records the pruning.
package struct TrailPruning: Hashable, Sendable {
    /// The first and the last row that this pruning went through.
    package var first: Int64
    /// Rows up to this one are gone, but for those that stayed. The chain begins with the next.
    package var through: Int64
    /// The link of row `through`.
    package var link: AuditMAC
    /// How many rows this pruning removed.
    package var removed: Int64
    /// How many of them did not continue the chain.
    package var damaged: Int64 = 0
    /// How many rows up to `through` have stayed, of all prunings.
    package var kept: Int64
    /// Which ones: the exclusive or of their marks.
    package var keptMarks: AuditMAC
    /// How many key slots and pending revocations there were, by the trail up to `through`.
    package var keySlots: Int64
    package var revocations: Int64
}
