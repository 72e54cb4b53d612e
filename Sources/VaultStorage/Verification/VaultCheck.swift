import VaultCrypto

/// A full check of a vault.
///
/// It processes the tables in batches. Each batch is one short read transaction, so that it sees rows, manifests and
/// audit rows of one moment, and neither writers nor checkpoints wait long. Damage becomes a finding and never ends the
/// check. Nothing is changed. Memory is bounded by the largest row and by the number of erased users (a handle each).
package final class VaultCheck {
    /// The number of rows in a transaction, which takes some milliseconds.
    static let batchSize = 256

    let tables: any TableAccess
    let context: VaultContext
    let scratch: CellScratch
    let opener: RowOpener
    /// The vault's row for this check, which may see a newer or an older moment than other readers.
    let rows: VaultRowKeeper
    var report = VerificationReport()
    /// The findings from the audit trail so far.
    var audit = AuditProgress()

    /// The report before the trail was checked.
    var reportBeforeAudit = VerificationReport()

    private var checked = 0
    private var total = 0
    /// The current row of the batch.
    private var cursor: Int64?

    package init(_ tables: any TableAccess, _ context: VaultContext) throws(StoreError) {
        self.tables = tables
        self.context = context
        rows = VaultRowKeeper(context.rows.current)
        do throws(VaultCryptoError) { scratch = try CellScratch() } catch {
            throw StoreError(.outOfMemory, error.message, hint: error.hint)
        }
        opener = try RowOpener(tables, context, scratch: scratch, rows: rows)
    }

    package func run(_ progress: (VerificationProgress) -> Void) throws(StoreError) -> VerificationReport {
        // Before the rows are counted, which may take long.
        progress(VerificationProgress(checked: 0, total: 0))
        try countRows(of: Self.countedTables)
        try tables.checkStorage(self)
        try checkVault()
        try walk(.migration, progress, checkMigration)
        try checkMigrationsAreComplete()
        try walk(.keySlot, progress, checkKeySlot)
        try walk(.provider, progress, checkProvider)
        _ = try damageAsFinding("vault") { () throws(StoreError) in try checkManifestIsComplete() }
        try walk(.user, progress, checkUser)
        try walk(.manifestPart, progress, checkManifestPart)
        try walk(.authorizationRequest, progress, checkAuthorizationRequest)
        try walk(.outbox, progress, checkOutboxEntry)
        try walk(.backup, progress, checkBackup)
        try walk(.observer, progress, checkObserver)
        try checkAudit(progress)
        try checkFences()
        return report
    }

    /// Checks only the trail, and whether vault, providers and users are in the last state that it records. Cells of
    /// users and logins are not opened.
    package func runAudit(_ progress: (VerificationProgress) -> Void) throws(StoreError) -> VerificationReport {
        progress(VerificationProgress(checked: 0, total: 0))
        try countRows(of: [.user, .audit])
        try checkVault()
        try walk(.user, progress) { row throws(StoreError) in
            guard let user = try? UserColumns(row) else {
                note("user", row.bytes16(1), "a column has the wrong type or length")
                return
            }
            try checkAudited(user)
        }
        try checkAudit(progress)
        return report
    }

    private func countRows(of counted: [Table]) throws(StoreError) {
        try tables.longReading { () throws(StoreError) in
            for table in counted {
                let count = try damageAsFinding(table.rawValue) { () throws(StoreError) in try tables.count(table) }
                total += Int(count ?? 0)
            }
        }
    }

    private func checkAudit(_ progress: (VerificationProgress) -> Void) throws(StoreError) {
        try walk(.audit, progress, checkAuditRow)
        try finishAudit()
        report.trailHead = AuditPosition(sequence: audit.lastSequence, link: audit.lastMAC)
        report.prunedThrough = audit.pruning.through
    }

    /// The tables whose rows count for the progress. Secrets and intents are checked with their logins.
    private static let countedTables: [Table] = [
        .migration, .keySlot, .provider, .user, .login, .manifestPart, .authorizationRequest, .outbox, .backup,
        .observer, .audit,
    ]

    // MARK: Walking

    /// Passes every row of a table to `check`, batch by batch, in the order of the row ids.
    ///
    /// A row that cannot be read becomes a finding and is skipped.
    private func walk(
        _ walk: Walk, _ progress: (VerificationProgress) -> Void,
        _ check: (any RowCursor) throws(StoreError) -> Void
    ) throws(StoreError) {
        let rows = try tables.cursor(walk.query)
        rows.bind(2, .max)
        var first: Int64? = .min
        while let start = first {
            cursor = nil
            do throws(StoreError) {
                first = try batch(rows, walk, from: start, check)
            } catch {
                guard error.isDamage else { throw error }
                first = skipUnreadableRow(
                    of: walk.table, from: cursor.map { $0 == .max ? $0 : $0 + 1 } ?? start, error)
            }
            progress(VerificationProgress(checked: min(checked, total), total: total))
            if BlockingWork.isCancelled { throw StoreError(.closed, "the check was ended before it was complete") }
        }
    }

    /// Checks some rows in one transaction. Returns the row id to continue from, or `nil` after the last row.
    private func batch(
        _ rows: any RowCursor, _ walk: Walk, from start: Int64,
        _ check: (any RowCursor) throws(StoreError) -> Void
    ) throws(StoreError) -> Int64? {
        try tables.snapshot { () throws(StoreError) in
            let limit = checked + Self.batchSize
            rows.bind(1, walk == .audit ? try placeInAudit(start) : start)
            defer { rows.reset() }
            while checked < limit || walk == .audit && holdsAudit {
                guard try rows.step() else { return nil }
                cursor = rows.integer(walk.keyColumn)
                checked += 1
                try check(rows)
            }
            guard let cursor, cursor < .max else { return nil }
            return cursor + 1
        }
    }

    /// Notes the row at which reading failed. Returns the number to continue from; `nil` if that cannot be determined.
    private func skipUnreadableRow(of table: Table, from position: Int64, _ error: StoreError) -> Int64? {
        let failed = try? tables.snapshot { () throws(StoreError) in
            let next = try tables.cursor(.numbersFrom[table])
            defer { next.reset() }
            next.bind(1, position)
            next.bind(2, 1)
            return try next.step() ? next.integer(0) : nil
        }
        guard let failed else {
            note("file", nil, "the rest of the table \(table.rawValue) cannot be read: \(error.message)")
            return nil
        }
        report.note(table.rawValue, "row \(failed)", "the row cannot be read: \(error.message)")
        return failed < .max ? failed + 1 : nil
    }

    // MARK: Findings

    static let formerState = "it is older than the audit trail records: a former state was put back"

    func note(_ place: String, _ subject: Bytes16?, _ reason: String, isRollback: Bool = false) {
        report.note(place, subject.map { Base32.encode($0) }, reason, isRollback: isRollback)
    }

    /// Returns the result of `body`. An error becomes a finding.
    func attempt<R>(_ place: String, _ subject: Bytes16?, _ body: () throws(VaultCryptoError) -> R) -> R? {
        do throws(VaultCryptoError) { return try body() } catch {
            note(place, subject, error.message)
            return nil
        }
    }

    /// Counts another row that no walk counts.
    func countRow() { checked += 1 }
}

extension VaultCheck: StorageFindings {
    package func note(_ place: String, row: String?, _ problem: String) { report.note(place, row, problem) }
}

extension VerificationReport {
    mutating func note(_ place: String, _ subject: String?, _ problem: String, isRollback: Bool = false) {
        findingCount += 1
        if findings.count < Self.findingLimit {
            findings.append(Finding(place: place, subject: subject, problem: problem, isRollback: isRollback))
        }
        if !isRollback { isOnlyRolledBack = false }
    }
}
