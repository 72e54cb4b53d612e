/// The result of pruning the audit trail, or of a preview.
package struct PrunedRows: Sendable, Equatable {
    package var removed: Int64 = 0
    /// Rows that were examined and kept: the last one of each user, provider and the vault, and some more.
    package var kept: Int64 = 0
    package var damaged: Int64 = 0
    /// The last row that was examined; nil if there was none.
    package var through: Int64?
    /// Whether there are more rows to remove.
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
