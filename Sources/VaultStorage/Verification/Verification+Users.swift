import VaultCrypto

extension Verification {
    mutating func checkUsers(_ progress: (VerificationProgress) -> Void) throws(StoreError) {
        var last: Int64 = .min
        while true {
            let before = report.users
            let next = try checkUserBatch(after: last)
            advance(by: report.users - before, progress)
            guard let next else { return }
            last = next
        }
    }

    /// Gives the last row id, or `nil` when there was nothing more.
    private mutating func checkUserBatch(after last: Int64) throws(StoreError) -> Int64? {
        try reader.connection.execute("BEGIN")
        defer { try? reader.connection.execute("ROLLBACK") }
        let rows = try reader.connection.statement(
            """
            SELECT id, handle, blindIndex, revision, auditSequence, rootKey, cell FROM user
            WHERE id > ?1 ORDER BY id LIMIT ?2
            """)
        defer { rows.reset() }
        rows.bind(1, last)
        rows.bind(2, Int64(Self.batch))
        var latest: Int64?
        while try rows.step() {
            latest = rows.integer(0)
            report.users += 1
            let subject = rows.bytes16(1).map { Base32.encode($0) }
            do throws(StoreError) { try checkUser(rows) } catch { found(error, "user", subject) }
        }
        return latest
    }

    private mutating func checkUser(_ row: Statement) throws(StoreError) {
        let columns = try UserColumns(row)
        let manifest = try reader.opener.withUser(row, columns) { view throws(StoreError) in
            let index = unsafe reader.context.keyring.blindIndex(of: view.userID, domain: .userID)
            guard index == columns.blindIndex else {
                throw StoreError.quarantined("user", columns.handle.bytes, "its index is not the one of its id")
            }
            return (0..<view.loginCount).map { view.entry($0).login }
        }
        report.cells += 1
        try checkAudited(columns)
        try checkLogins(columns, Set(manifest))
    }

    /// The user's revision is the one that the trail told last.
    private mutating func checkAudited(_ columns: UserColumns) throws(StoreError) {
        let row = try reader.connection.statement("SELECT user, revision FROM audit WHERE sequence = ?1")
        defer { row.reset() }
        row.bind(1, columns.auditSequence)
        guard try row.step(), row.bytes16(0) == columns.handle.bytes, row.integer(1) == columns.revision else {
            found("user", columns.handle.text, "the audit trail does not tell of its last change")
            return
        }
    }

    private mutating func checkLogins(_ user: UserColumns, _ manifest: Set<LoginHandle>) throws(StoreError) {
        var missing = manifest
        let row = try reader.connection.statement(SQL.loginsOfUser)
        row.bind(1, user.blindIndex.bytes)
        defer { row.reset() }
        while try row.step() {
            if row.isNull(LoginColumns.firstColumn) { break }
            report.logins += 1
            let opener = reader.opener
            do throws(StoreError) {
                let columns = try LoginColumns(row)
                missing.remove(columns.handle)
                let login = try opener.withUser(row, user) { view throws(StoreError) in
                    try opener.login(row, columns, user, view)
                }
                report.cells += 1 + (login.refresh == nil ? 0 : 1) + (login.key == nil ? 0 : 1)
                if columns.expiresAt != LoginColumns.roundedUp(login.session.expiresAt) {
                    found("login", columns.handle.text, "its expiry is not the one of its session")
                }
            } catch {
                found(error, "login", row.bytes16(LoginColumns.firstColumn + 1).map { Base32.encode($0) })
            }
        }
        for handle in missing { found("login", handle.text, "its row is missing") }
    }
}
