import VaultCrypto

/// The next rows of the trail that may be removed, and the decision for each. It changes nothing.
struct TrailSection {
    struct Row {
        let columns: AuditColumns
        let link: AuditMAC
        /// The link of the previous row.
        let previous: AuditMAC
        let continues: Bool
    }

    /// The rows, in order and without a gap.
    private(set) var rows: [Row] = []
    /// Whether the trail continues with rows that may be removed.
    private(set) var hasMore = false

    /// - Parameter last: where the last pruning or the previous section ended.
    init(
        after last: AuditPosition, _ limits: TrailLimits, head: Int64, size: Int,
        _ opener: RowOpener
    ) throws(StoreError) {
        let cursor = try opener.tables.cursor(.auditRows)
        cursor.bind(1, last.sequence)
        cursor.bind(2, Int64(size) + 1)
        defer { cursor.reset() }
        var (sequence, link) = (last.sequence, last.link)
        while try cursor.step() {
            let row = AuditLink(cursor)
            guard limits.allows(row.columns, head: head) else { return }
            guard rows.count < size else {
                hasMore = true
                return
            }
            let isNext = row.columns.sequence == sequence &+ 1
            let continues = isNext ? try opener.continues(row, link) : false
            guard continues || limits.includesDamaged else { throw .damagedTrail(row.columns.sequence) }
            let own = row.mac ?? .genesis
            rows.append(Row(columns: row.columns, link: own, previous: link, continues: continues))
            (sequence, link) = (row.columns.sequence, own)
        }
    }
}

extension StoreError {
    fileprivate static func damagedTrail(_ sequence: Int64) -> StoreError {
        StoreError(
            .quarantined(table: "audit", handle: "\(sequence)"),
            "row \(sequence) of the audit trail does not continue the chain: it, or a row before it, was changed",
            hint: "nothing was removed from there on; keep a copy of the vault, then run "
                + "`vaultctl audit prune --include-damaged`")
    }
}
