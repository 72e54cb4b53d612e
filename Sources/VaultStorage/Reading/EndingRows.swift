import VaultCrypto

/// Finds in the audit trail how a provider's logins ended, for a reader or the writer.
///
/// Like the search for due renewals, it reads plaintext columns: a forged row costs a pause and no login.
struct EndingRows {
    let tables: any TableAccess
    let opener: RowOpener

    /// The number of rows of the trail that are searched for a series of ends.
    private static let window: Int64 = 100_000
    /// The number of earlier rows that define the usual rate, and the maximum count of one kind.
    private static let usualWindow: Int64 = 50_000
    private static let mostCounted = 5_000

    /// Whether the provider is stopped, according to its own few rows.
    func standing(of provider: ProviderHandle) throws(StoreError) -> (endings: ProviderEndings, sequence: Int64) {
        let row = try tables.cursor(.lastFuseRow)
        row.bind(2, AuditKind.providerStopped.rawValue)
        row.bind(3, AuditKind.deathsAccepted.rawValue)
        return try row.withBinding(1, provider.bytes) { () throws(StoreError) in
            var endings = ProviderEndings()
            guard try row.step() else { return (endings, 0) }
            let columns = AuditColumns(row)
            switch columns.kind {
            case .providerStopped:
                endings.stoppedAt = columns.time
                let detail = try? opener.auditDetail(row, columns)
                endings.stoppedAfter = detail?.texts.first { $0.key == AuditEvent.Detail.count }.flatMap {
                    Int($0.value)
                }
            case .deathsAccepted: endings.acceptedAt = columns.time
            default: break
            }
            return (endings, columns.sequence)
        }
    }

    /// - Parameters:
    ///   - head: The number of the last row of the trail.
    ///   - least: From this many ends in a row on, the usual rate is counted as well.
    func endings(of provider: ProviderHandle, head: Int64, least: Int) throws(StoreError) -> ProviderEndings {
        var (endings, start) = try standing(of: provider)
        guard endings.stoppedAt == nil else { return endings }
        start = max(start, head - Self.window)
        start = max(start, try rows(.renewed, of: provider, after: start, through: head, most: 1).last ?? 0)
        try count(provider, through: head, since: start, least: least, in: &endings)
        guard endings.inARow >= least else { return endings }
        endings.renewedBefore = try rows(
            .renewed, of: provider, after: start - Self.usualWindow, through: start, most: Self.mostCounted
        ).count
        return endings
    }

    /// Counts the logins that the provider has ended since a row, and the usual number before it, in one walk from the
    /// end of the trail. Logins that lost a reply are not counted on either side, because that explains their end.
    private func count(
        _ provider: ProviderHandle, through last: Int64, since start: Int64, least: Int,
        in endings: inout ProviderEndings
    ) throws(StoreError) {
        let first = start - Self.usualWindow
        let row = try walk(.loginDead, of: provider, after: first, through: last, most: 2 * Self.mostCounted)
        defer { row.reset() }
        var (ended, before): (Set<LoginHandle>, Set<LoginHandle>) = ([], [])
        while try row.step() {
            let columns = AuditColumns(row)
            let isBefore = columns.sequence <= start
            if isBefore, ended.count < least { break }
            guard let login = columns.login, !(isBefore ? before : ended).contains(login) else { continue }
            let detail = try? opener.auditDetail(row, columns)
            let reason = detail?.texts.first { $0.key == AuditEvent.Detail.endReason }?.value
            guard reason != AuditEvent.Detail.lostResponse else { continue }
            if isBefore { before.insert(login) } else { ended.insert(login) }
        }
        (endings.inARow, endings.endedBefore) = (ended.count, before.count)
    }

    /// The numbers of the rows of this kind, the latest first.
    private func rows(
        _ kind: AuditKind, of provider: ProviderHandle, after first: Int64, through last: Int64, most: Int
    ) throws(StoreError) -> [Int64] {
        let row = try walk(kind, of: provider, after: first, through: last, most: most)
        defer { row.reset() }
        var found: [Int64] = []
        while try row.step() { found.append(AuditColumns(row).sequence) }
        return found
    }

    private func walk(
        _ kind: AuditKind, of provider: ProviderHandle, after first: Int64, through last: Int64, most: Int
    ) throws(StoreError) -> any RowCursor {
        let row = try tables.cursor(.rowsOfProvidersLogins)
        row.bind(1, kind.rawValue)
        row.bind(2, first)
        row.bind(3, last)
        row.bind(4, provider.bytes)
        row.bind(5, Int64(most))
        return row
    }
}

extension Query {
    fileprivate static let lastFuseRow = select(
        auditColumns, from: .audit,
        where: [
            .equal(Table.audit["provider"], 1), .atLeast(Table.audit["kind"], 2), .atMost(Table.audit["kind"], 3),
            .isNotNull(Table.audit["provider"]),
        ], order: [.down(Table.audit["sequence"])], mostRows: 1, index: "auditByProvider")

    // Reads from the end of the trail, as for the last renewal.
    fileprivate static let rowsOfProvidersLogins = select(
        auditColumns, from: .audit, joins: [.each(Table.login["handle"], is: Table.audit["login"])],
        where: [
            .equal(Table.audit["kind"], 1), .greater(Table.audit["sequence"], 2), .atMost(Table.audit["sequence"], 3),
            .equal(Table.login["provider"], 4),
        ], order: [.down(Table.audit["sequence"])], limit: 5)
}
