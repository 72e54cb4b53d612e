import VaultCrypto

extension Verification {
    /// Forward for the chain, and against the users as they are now.
    mutating func checkAuditTrail(_ progress: (VerificationProgress) -> Void) throws(StoreError) {
        try collectErasures()
        var chain = WriteTransaction.AuditHead(sequence: 0, mac: .genesis)
        while true {
            let before = report.auditRows
            try checkAuditBatch(&chain)
            let count = report.auditRows - before
            advance(by: count, progress)
            if count == 0 { return }
        }
    }

    /// Costs 16 bytes for each user that was ever erased.
    private mutating func collectErasures() throws(StoreError) {
        let row = try Statement(reader.connection, "SELECT user FROM audit WHERE kind = ?1")
        row.bind(1, AuditKind.userErased.rawValue)
        while try row.step() {
            if let user = row.bytes16(0) { erased.insert(UserHandle(user)) }
        }
    }

    private mutating func checkAuditBatch(_ chain: inout WriteTransaction.AuditHead) throws(StoreError) {
        try reader.connection.execute("BEGIN")
        defer { try? reader.connection.execute("ROLLBACK") }
        let row = try reader.connection.statement(
            """
            SELECT sequence, time, kind, user, login, provider, revision, detailCell, mac FROM audit
            WHERE sequence > ?1 ORDER BY sequence LIMIT ?2
            """)
        defer { row.reset() }
        row.bind(1, chain.sequence)
        row.bind(2, Int64(Self.batch))
        while try row.step() {
            report.auditRows += 1
            try check(row, &chain)
        }
    }

    private mutating func check(
        _ row: Statement, _ chain: inout WriteTransaction.AuditHead
    ) throws(StoreError) {
        let columns = AuditColumns(row)
        let subject = "\(columns.sequence)"
        if columns.sequence != chain.sequence + 1 { found("audit", subject, "rows before it are missing") }
        let tag: CellTag? = row.isNull(7) ? nil : try? unsafe SealedCell.tag(of: row.blob(7))
        let expected = columns.link(reader.context, previous: chain.mac, detailTag: tag)
        let mac = unsafe AuditMAC(row.blob(8))
        if mac != expected || columns.isMalformed {
            found("audit", subject, "it, or a row before it, is not as the vault left it")
        }
        chain = WriteTransaction.AuditHead(sequence: columns.sequence, mac: mac ?? expected)
        do throws(StoreError) {
            _ = try reader.opener.auditDetail(row, columns)
            if tag != nil { report.cells += 1 }
        } catch {
            found(error, "audit", subject)
        }
        if let user = columns.user, let revision = columns.revision { try check(user, revision, subject) }
        if let provider = columns.provider, let revision = columns.revision {
            providerRevisions[provider] = columns.kind == .providerRemoved ? nil : revision
        }
    }

    /// A user never falls behind what was told of him, and does not go without a word.
    private mutating func check(_ user: UserHandle, _ revision: Int64, _ subject: String) throws(StoreError) {
        let query = try reader.connection.statement("SELECT revision FROM user WHERE handle = ?1")
        let current: Int64? = try query.withBinding(1, user.bytes) { () throws(StoreError) in
            try query.step() ? query.integer(0) : nil
        }
        guard let current else {
            if !erased.contains(user) { found("user", user.text, "it is missing, and was not erased") }
            return
        }
        if current < revision { found("user", user.text, "it is older than audit row \(subject) tells") }
    }
}
