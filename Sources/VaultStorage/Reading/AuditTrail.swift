import VaultCrypto

/// What the audit trail says against a row that is older than it tells. One index look-up each, which finds nothing.
///
/// A row of the trail counts only if it continues the chain: a planted one must not make others refused.
struct AuditTrail {
    let connection: Connection
    let context: VaultContext

    /// Whether the trail has a later change of the vault's row than the row itself. Before the row had a manifest,
    /// providers were recorded as they are now, and nothing else was.
    func tellsOfLater(than row: VaultRow) throws(StoreError) -> Bool {
        let rows = try connection.statement(
            """
            SELECT sequence FROM audit INDEXED BY auditOfVault
            WHERE user IS NULL AND login IS NULL AND revision IS NOT NULL AND sequence > ?1
                AND (?2 OR provider IS NULL)
            """)
        defer { rows.reset() }
        rows.bind(1, row.auditSequence)
        rows.bind(2, row.hasManifest ? 1 : 0)
        while try rows.step() {
            if try isAuthentic(rows.integer(0)) { return true }
        }
        return false
    }

    /// Whether the trail has a later revision of a user.
    func tells(of user: UserHandle, after revision: Int64) throws(StoreError) -> Bool {
        let rows = try connection.statement(
            "SELECT sequence FROM audit INDEXED BY auditByUser WHERE user = ?1 AND revision > ?2 AND kind <> 22")
        defer { rows.reset() }
        rows.bind(1, user.bytes)
        rows.bind(2, revision)
        while try rows.step() {
            if try isAuthentic(rows.integer(0)) { return true }
        }
        return false
    }

    private func isAuthentic(_ sequence: Int64) throws(StoreError) -> Bool {
        let row = try connection.statement(
            """
            SELECT sequence, time, kind, user, login, provider, revision, detailCell, mac,
                (SELECT mac FROM audit WHERE sequence = ?1 - 1)
            FROM audit WHERE sequence = ?1
            """)
        defer { row.reset() }
        row.bind(1, sequence)
        guard try row.step(), let mac = unsafe AuditMAC(row.blob(8)) else { return false }
        let columns = AuditColumns(row)
        let previous = sequence == 1 ? .genesis : unsafe AuditMAC(row.blob(9))
        guard !columns.isMalformed, let previous else { return false }
        let detail = row.optionalBytes(7)
        let tag = detail.flatMap { try? SealedCell.tag(of: $0) }
        guard (detail == nil) == (tag == nil) else { return false }
        return columns.link(context, previous: previous, detailTag: tag) == mac
    }
}
