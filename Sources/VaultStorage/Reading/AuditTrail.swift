import VaultCrypto

/// What the audit trail says against a row that is older than it tells. One index look-up each, which finds nothing.
///
/// A row of the trail counts only if it continues the chain: a planted one must not make others refused.
struct AuditTrail {
    let tables: any TableAccess
    let context: VaultContext

    /// Whether the trail has a later change of the vault's row than the row itself. Before the row had a manifest,
    /// providers were recorded as they are now, and nothing else was.
    func tellsOfLater(than row: VaultRow) throws(StoreError) -> Bool {
        let rows = try tables.cursor(.changesOfVault)
        defer { rows.reset() }
        rows.bind(1, row.auditSequence)
        while try rows.step() {
            if !row.hasManifest, !rows.isNull(1) { continue }
            if try isAuthentic(rows.integer(0)) { return true }
        }
        return false
    }

    /// Whether the trail has a later revision of a user.
    func tells(of user: UserHandle, after revision: Int64) throws(StoreError) -> Bool {
        let rows = try tables.cursor(.changesOfUser)
        defer { rows.reset() }
        rows.bind(1, user.bytes)
        rows.bind(2, revision)
        while try rows.step() {
            if try isAuthentic(rows.integer(0)) { return true }
        }
        return false
    }

    private func isAuthentic(_ sequence: Int64) throws(StoreError) -> Bool {
        guard let previous = try link(before: sequence) else { return false }
        let row = try tables.cursor(.auditRow)
        defer { row.reset() }
        row.bind(1, sequence)
        guard try row.step(), let mac = unsafe AuditMAC(row.blob(8)) else { return false }
        let columns = AuditColumns(row)
        guard !columns.isMalformed else { return false }
        let detail = row.isNull(7) ? nil : row.bytes(7)
        let tag = detail.flatMap { try? SealedCell.tag(of: $0) }
        guard (detail == nil) == (tag == nil) else { return false }
        return columns.link(context, previous: previous, detailTag: tag) == mac
    }

    private func link(before sequence: Int64) throws(StoreError) -> AuditMAC? {
        if sequence == 1 { return .genesis }
        let row = try tables.cursor(.auditLink)
        defer { row.reset() }
        row.bind(1, sequence &- 1)
        return try row.step() ? unsafe AuditMAC(row.blob(0)) : nil
    }
}

extension Query {
    fileprivate static let changesOfVault = select(
        Table.audit.columns("sequence", "provider"), from: .audit,
        where: [
            .isNull(Table.audit["user"]), .isNull(Table.audit["login"]), .isNotNull(Table.audit["revision"]),
            .greater(Table.audit["sequence"], 1),
        ], index: "auditOfVault")

    /// Without the starts of renewals, which the index leaves out.
    fileprivate static let changesOfUser = select(
        Table.audit.columns("sequence"), from: .audit,
        where: [
            .equal(Table.audit["user"], 1), .greater(Table.audit["revision"], 2),
            .isNot(Table.audit["kind"], AuditKind.renewalStarted.rawValue),
        ], index: "auditByUser")
}
