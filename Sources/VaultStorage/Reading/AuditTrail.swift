import VaultCrypto

/// The audit trail, read on its own authority: a row counts only if it continues the chain.
struct AuditTrail {
    let opener: RowOpener
    var tables: any TableAccess { opener.tables }

    init(_ opener: RowOpener) { self.opener = opener }

    // MARK: Evidence that a row is older than the trail's record
    // Each check is one index look-up, which normally finds nothing. A planted row must not cause others to be refused.

    /// Whether the trail has a later change of the vault's row than the row itself. Before the row had a manifest,
    /// provider changes were recorded as they are now, and no other changes were.
    func reportsLater(than row: VaultRow) throws(StoreError) -> Bool {
        let rows = try tables.cursor(.changesOfVault)
        defer { rows.reset() }
        rows.bind(1, row.auditSequence)
        while try rows.step() {
            if !row.hasManifest, !rows.isNull(1) { continue }
            if try isAuthentic(rows.integer(0)) { return true }
        }
        return false
    }

    /// A revision of a user that is later than the user's row; nil if the trail confirms the row. The end of an erased
    /// user is such a revision. After a pruning the trail has no row of an erased user at all, while it keeps the row
    /// of the last change of every other user.
    func laterRevision(than user: UserColumns) throws(StoreError) -> Int64? {
        if let later = try laterRevision(of: user.handle, than: user.revision) { return later }
        if try hasRow(user.auditSequence) { return nil }
        return try isPruned(through: user.auditSequence) ? user.revision + 1 : nil
    }

    private func laterRevision(of user: UserHandle, than revision: Int64) throws(StoreError) -> Int64? {
        let rows = try tables.cursor(.changesOfUser)
        defer { rows.reset() }
        rows.bind(1, user.bytes)
        rows.bind(2, revision)
        while try rows.step() {
            if try isAuthentic(rows.integer(0)) { return rows.integer(1) }
        }
        return nil
    }

    /// The highest revision of a user in the trail; 0 if it records none.
    func lastRevision(of user: UserHandle) throws(StoreError) -> Int64 {
        let rows = try tables.cursor(.changesOfUserDown)
        defer { rows.reset() }
        rows.bind(1, user.bytes)
        while try rows.step() {
            if try isAuthentic(rows.integer(0)) { return rows.integer(1) }
        }
        return 0
    }

    private func hasRow(_ sequence: Int64) throws(StoreError) -> Bool {
        let row = try tables.cursor(.auditLink)
        defer { row.reset() }
        row.bind(1, sequence)
        return try row.step()
    }

    /// Whether a missing row was pruned. A tampered pruning row excuses nothing.
    private func isPruned(through sequence: Int64) throws(StoreError) -> Bool {
        do throws(StoreError) { return try pruning().through >= sequence } catch {
            guard error.isOfRow else { throw error }
            return true
        }
    }

    // MARK: Rows

    /// Whether the row under this number is the one that was written.
    private func isAuthentic(_ sequence: Int64) throws(StoreError) -> Bool {
        let row = try tables.cursor(.auditRow)
        defer { row.reset() }
        row.bind(1, sequence)
        guard try row.step() else { return false }
        return try isAuthentic(row)
    }

    /// Whether a row with the layout of ``Query/auditRow`` is the one that was written.
    func isAuthentic(_ row: any RowCursor) throws(StoreError) -> Bool {
        guard let previous = try link(before: row) else { return false }
        return try opener.continues(AuditLink(row), previous)
    }

    /// The link that a row continues; nil if it is missing.
    private func link(before row: any RowCursor) throws(StoreError) -> AuditMAC? {
        if !row.isNull(9) { return unsafe AuditMAC(row.blob(9)) }
        let sequence = row.integer(0)
        if sequence == 1 { return .genesis }
        let before = try tables.cursor(.auditLink)
        defer { before.reset() }
        before.bind(1, sequence &- 1)
        return try before.step() ? unsafe AuditMAC(before.blob(0)) : nil
    }

    // MARK: Prunings

    struct LastPruning: Equatable {
        /// The number of the row that records it.
        var sequence: Int64
        var pruning: TrailPruning
    }

    /// The last pruning; nil if there was none. Throws damage if the row that records it was changed.
    func lastPruning() throws(StoreError) -> LastPruning? {
        do throws(StoreError) { return try lastPruning(through: .max) } catch {
            guard error.isOfRow else { throw error }
            // A row planted behind the end records nothing.
            return try lastPruning(through: try end().position.sequence)
        }
    }

    private func lastPruning(through last: Int64) throws(StoreError) -> LastPruning? {
        let row = try tables.cursor(.lastPruning)
        defer { row.reset() }
        row.bind(1, last)
        guard try row.step(), row.integer(0) > 0 else { return nil }
        let sequence = row.integer(0)
        guard try isAuthentic(row) else {
            throw .quarantined("audit", nil, "the row that records the last pruning does not continue the chain")
        }
        let detail = try opener.auditDetail(row, AuditColumns(row))
        guard let pruning = detail.pruning, pruning.through < sequence else {
            throw .quarantined("audit", nil, "the row that records the last pruning does not say what was pruned")
        }
        return LastPruning(sequence: sequence, pruning: pruning)
    }

    /// The last pruning, or the state of a trail that was never pruned.
    func pruning() throws(StoreError) -> TrailPruning {
        try lastPruning()?.pruning ?? .none
    }
}

/// A row of the trail in the form that its link covers.
struct AuditLink {
    let columns: AuditColumns
    /// The row's own link; nil if it has the wrong length.
    let mac: AuditMAC?
    private let tag: CellTag?
    /// Whether the detail cell is malformed.
    private let isMalformed: Bool

    /// Reads a row with the layout of ``Query/auditRow``.
    init(_ row: any RowCursor) {
        columns = AuditColumns(row)
        mac = unsafe AuditMAC(row.blob(8))
        let hasDetail = !row.isNull(7)
        tag = hasDetail ? unsafe try? SealedCell.tag(of: row.blob(7)) : nil
        isMalformed = columns.isMalformed || hasDetail != (tag != nil)
    }

    var hasShape: Bool { !columns.isMalformed && mac != nil }

    func continues(_ previous: AuditMAC, _ vault: Bytes16, _ keyring: Keyring) -> Bool {
        guard !isMalformed, let mac else { return false }
        return columns.link(vault, keyring, previous: previous, detailTag: tag) == mac
    }
}

extension RowOpener {
    /// Whether a row of the trail continues the chain.
    func continues(_ row: AuditLink, _ previous: AuditMAC) throws(StoreError) -> Bool {
        try holds { row.continues(previous, context.vaultID, $0) }
    }
}

extension Query {
    fileprivate static let changesOfVault = select(
        Table.audit.columns("sequence", "provider"), from: .audit,
        where: [
            .isNull(Table.audit["user"]), .isNull(Table.audit["login"]), .isNotNull(Table.audit["revision"]),
            .greater(Table.audit["sequence"], 1),
        ], index: "auditOfVault")

    // Excludes the starts of renewals, which the index leaves out.

    fileprivate static let changesOfUser = select(
        Table.audit.columns("sequence", "revision"), from: .audit,
        where: [
            .equal(Table.audit["user"], 1), .greater(Table.audit["revision"], 2),
            .isNot(Table.audit["kind"], AuditKind.renewalStarted.rawValue),
        ], index: "auditByUser")

    fileprivate static let changesOfUserDown = select(
        Table.audit.columns("sequence", "revision"), from: .audit,
        where: [
            .equal(Table.audit["user"], 1), .isNotNull(Table.audit["revision"]),
            .isNot(Table.audit["kind"], AuditKind.renewalStarted.rawValue),
        ], order: [.down(Table.audit["revision"]), .down(Table.audit["sequence"])], index: "auditByUser")

    fileprivate static let lastPruning = select(
        auditColumns, from: .audit,
        where: [
            .isExactly(Table.audit["kind"], AuditKind.trailPruned.rawValue), .atMost(Table.audit["sequence"], 1),
        ], order: [.down(Table.audit["sequence"])], mostRows: 1, index: "auditOfPruning")
}
