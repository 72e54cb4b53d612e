import VaultCrypto

extension WriteTransaction {
    /// Removes the next rows of the trail that may go, and records it. Does nothing if there are none.
    ///
    /// - Parameter size: The number of rows to process: other writers wait for the few milliseconds that this takes.
    package func prune(_ limits: TrailLimits, size: Int) throws(StoreError) -> PrunedRows {
        let last = try AuditTrail(opener).pruning()
        let section = try TrailSection(
            after: last.end, limits, head: head.sequence, size: size, opener)
        guard let first = section.rows.first, let end = section.rows.last else { return PrunedRows() }
        var keeping = TrailKeeping(tables, context, rows.current)
        var stay: Set<Int64> = []
        for row in section.rows.reversed() where row.continues {
            if try keeping.keeps(row.columns) { stay.insert(row.columns.sequence) }
        }
        let outdated = try outdatedRows(keptBy: last, section, &keeping)
        var pruning = last
        pruning.first = first.columns.sequence
        pruning.through = end.columns.sequence
        pruning.link = end.link
        for row in section.rows {
            pruning.count(row.columns.kind)
            guard stay.contains(row.columns.sequence) else { continue }
            pruning.keptMarks = pruning.keptMarks ^ mark(of: row.columns.sequence, row.link)
            try note(previous: row.previous, in: row.columns.sequence)
        }
        for row in outdated {
            pruning.keptMarks = pruning.keptMarks ^ mark(of: row.sequence, row.link)
            try removeRows(row.sequence, row.sequence)
        }
        try removeRows(section.rows.map(\.columns.sequence), but: stay)
        // The first row of the chain.
        try note(previous: end.link, in: end.columns.sequence + 1)
        pruning.kept += Int64(stay.count - outdated.count)
        pruning.removed = Int64(section.rows.count - stay.count + outdated.count)
        pruning.damaged = Int64(section.rows.count { !$0.continues })
        var event = AuditEvent(.trailPruned)
        event.pruning = pruning
        try audit(event, about: AuditSubject())
        try giveUpAuditKeys(through: pruning.through)
        return PrunedRows(section, stay.count, pruning)
    }

    /// The mark under the key of the row that will record it.
    private func mark(of sequence: Int64, _ link: AuditMAC) -> AuditMAC {
        TrailPruning.mark(of: sequence, link, context.vaultID, under: rows.keyring.auditKey)
    }

    // MARK: Rows that stayed before

    private struct KeptRow {
        let sequence: Int64
        let link: AuditMAC
    }

    /// Rows that an earlier pruning kept, and that a later change in the section makes obsolete.
    private func outdatedRows(
        keptBy last: TrailPruning, _ section: TrailSection, _ keeping: inout TrailKeeping
    ) throws(StoreError) -> [KeptRow] {
        guard last.kept > 0 else { return [] }
        var outdated: [KeptRow] = []
        for user in Set(section.rows.compactMap(\.columns.user)) {
            let rows = try tables.cursor(.keptRowsOfUser)
            rows.bind(2, last.through)
            try rows.withBinding(1, user.bytes) { () throws(StoreError) in
                try collect(rows, &outdated, &keeping)
            }
        }
        guard section.rows.contains(where: \.columns.isOfVault) else { return outdated }
        let rows = try tables.cursor(.keptRowsOfVault)
        defer { rows.reset() }
        rows.bind(1, last.through)
        try collect(rows, &outdated, &keeping)
        return outdated
    }

    private func collect(
        _ rows: any RowCursor, _ outdated: inout [KeptRow], _ keeping: inout TrailKeeping
    ) throws(StoreError) {
        while try rows.step() {
            let row = AuditLink(rows)
            if row.hasShape, try keeping.keeps(row.columns) { continue }
            outdated.append(KeptRow(sequence: row.columns.sequence, link: row.mac ?? .genesis))
        }
    }

    // MARK: Changing the table

    private func note(previous: AuditMAC, in sequence: Int64) throws(StoreError) {
        let update = try tables.cursor(.keepPrevious)
        update.bind(1, sequence)
        update.bind(2, previous.array)
        try update.run()
    }

    /// Removes these rows except some, run by run.
    private func removeRows(_ sequences: [Int64], but stay: Set<Int64>) throws(StoreError) {
        for run in sequences.split(whereSeparator: { stay.contains($0) }) {
            if let first = run.first, let last = run.last { try removeRows(first, last) }
        }
    }

    private func removeRows(_ first: Int64, _ last: Int64) throws(StoreError) {
        let delete = try tables.cursor(.removeRows)
        delete.bind(1, first)
        delete.bind(2, last)
        try delete.run()
    }
}

extension Reader {
    /// The result that a pruning would have, without a change. Some rows that earlier prunings kept may go as well.
    package func prunable(
        _ limits: TrailLimits, after position: AuditPosition?, size: Int
    ) throws(StoreError) -> (rows: PrunedRows, end: AuditPosition?) {
        let last = try AuditTrail(opener).pruning()
        let section = try TrailSection(
            after: position ?? last.end, limits, head: auditHead(), size: size, opener)
        var keeping = TrailKeeping(tables, context, try opener.vaultRow())
        var report = PrunedRows()
        for row in section.rows.reversed() {
            let stays = row.continues ? try keeping.keeps(row.columns) : false
            if stays { report.kept += 1 } else { report.removed += 1 }
            if !row.continues { report.damaged += 1 }
        }
        report.hasMore = section.hasMore
        report.through = section.rows.last?.columns.sequence
        return (report, section.rows.last.map { AuditPosition(sequence: $0.columns.sequence, link: $0.link) })
    }
}

extension AuditColumns {
    /// Whether the row is about the vault's row: providers are named by its manifest.
    fileprivate var isOfVault: Bool { user == nil && login == nil && revision != nil }
}

extension TrailPruning {
    fileprivate var end: AuditPosition { AuditPosition(sequence: through, link: link) }
}

extension PrunedRows {
    fileprivate init(_ section: TrailSection, _ kept: Int, _ pruning: TrailPruning) {
        self.init()
        removed = pruning.removed
        self.kept = Int64(kept)
        damaged = pruning.damaged
        through = pruning.through
        hasMore = section.hasMore
    }
}

extension Query {
    fileprivate static let keptRowsOfUser = select(
        auditColumns, from: .audit,
        where: [
            .equal(Table.audit["user"], 1), .isNotNull(Table.audit["user"]), .isNotNull(Table.audit["previous"]),
            .atMost(Table.audit["sequence"], 2),
        ], order: [.down(Table.audit["sequence"])], index: "auditKept")

    fileprivate static let keptRowsOfVault = select(
        auditColumns, from: .audit,
        where: [
            .isNull(Table.audit["user"]), .isNull(Table.audit["login"]), .isNotNull(Table.audit["revision"]),
            .atMost(Table.audit["sequence"], 1),
        ], order: [.down(Table.audit["sequence"])], index: "auditOfVault")

    fileprivate static let keepPrevious = update(
        .audit, "previous", first: 2, where: [.equal(Table.audit["sequence"], 1)])

    fileprivate static let removeRows = delete(
        from: .audit, where: [.atLeast(Table.audit["sequence"], 1), .atMost(Table.audit["sequence"], 2)])
}
