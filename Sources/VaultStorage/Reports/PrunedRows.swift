/// What a pruning of the audit trail did, or would do.
package struct PrunedRows: Sendable, Equatable {
    package var removed: Int64 = 0
    /// Rows that it went through and that stay: the last one of each user, provider and the vault, and some more.
    package var kept: Int64 = 0
    package var damaged: Int64 = 0
    /// The last row that it went through; nil if there was nothing to go through.
    package var through: Int64?
    /// Whether there is more to be removed.
    package var hasMore = false

    package init() {}

    package static func += (all: inout PrunedRows, part: PrunedRows) {
        all.removed += part.removed
        all.kept += part.kept
        all.damaged += part.damaged
        all.through = part.through ?? all.through
        all.hasMore = part.hasMore
    }
}
