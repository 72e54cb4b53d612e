import VaultCrypto

extension VaultCheck {
    /// Checks a user's cell, its blind index, its audit row, and all its logins.
    func checkUser(_ row: any RowCursor) throws(StoreError) {
        report.users += 1
        guard let columns = try? UserColumns(row) else {
            note("user", row.bytes16(1), "a column has the wrong type or length")
            return
        }
        let handle = columns.handle.bytes
        let opened = attempt("user", handle) { () throws(VaultCryptoError) in
            try unsafe SealedCell.Opened(
                row.blob(UserColumns.cellColumn), kind: .user, key: context.root(columns.rootKey),
                associatedData: columns.associatedData(context.vaultID), scratch: scratch)
        }
        guard let opened else { return }
        defer { opened.wipe(scratch) }
        report.cells += 1
        let view = attempt("user", handle) { () throws(VaultCryptoError) in try unsafe UserCellView(opened.plaintext) }
        guard let view else { return }
        if !isIndex(columns.blindIndex.bytes, { unsafe $0.blindIndexes(of: view.userId, domain: .userId) }) {
            note("user", handle, "its index does not belong to the user id in its cell")
        }
        try checkAudited(columns)
        try checkLogins(of: columns, view)
    }

    /// The audit row that the user's cell is bound to must name this user in this revision.
    func checkAudited(_ user: UserColumns) throws(StoreError) {
        let row = try tables.cursor(.auditRow)
        row.bind(1, user.auditSequence)
        defer { row.reset() }
        guard try row.step() else {
            note("user", user.handle.bytes, "the audit row of its last change is missing")
            return
        }
        if row.bytes16(3) != user.handle.bytes || row.optionalInteger(6) != user.revision {
            note("user", user.handle.bytes, "the audit row of its last change does not match it")
        }
    }

    // MARK: Logins

    private func checkLogins(of user: UserColumns, _ view: UserCellView) throws(StoreError) {
        let rows = try tables.cursor(.wholeLoginsOfUserRow)
        rows.bind(1, user.rowID)
        defer { rows.reset() }
        let view = try opener.indexed(view, user)
        let known = try opener.knownLogins(user, view)
        try checkManifestParts(of: user, view, known)
        var unseen = Set(known.entries.keys)
        while try rows.step() {
            countRow()
            report.logins += 1
            guard let columns = try? LoginColumns(rows) else {
                note("login", rows.bytes16(LoginColumns.firstColumn + 1), "a column has the wrong type or length")
                continue
            }
            unseen.remove(columns.handle)
            checkLogin(columns, rows, user, view)
        }
        for login in unseen { note("login", login.bytes, "its user's manifest names it, and it is missing") }
    }

    private func checkLogin(
        _ login: LoginColumns, _ row: any RowCursor, _ owner: UserColumns, _ view: UserCellView
    ) {
        let (handle, user) = (login.handle.bytes, owner.handle)
        let entry: ManifestEntry?
        do throws(StoreError) { entry = try opener.entry(of: login.handle, owner, view) } catch {
            note("login", handle, "the part of its user's manifest that names it does not open")
            return
        }
        guard let entry else {
            note("login", handle, "its user's manifest does not name it")
            return
        }
        let cell = unsafe row.blob(LoginColumns.cellColumn)
        let tag = attempt("login", handle) { () throws(VaultCryptoError) in try unsafe SealedCell.tag(of: cell) }
        guard let tag else { return }
        if entry.revision != login.revision || entry.tag != tag {
            note("login", handle, "it is not in the state that its user's manifest names")
        }
        unsafe checkCell(
            "login", handle, cell, .session, view.dataKey, user, login.sessionData(context.vaultID, user)
        ) { plaintext throws(VaultCryptoError) in
            let session = try unsafe SessionRecord(plaintext)
            let intent = try? IntentRecord(row, opener, login: login.handle)
            if row.isNull(IntentRecord.firstColumn), session.lacksDoubt(of: intent) {
                note("refreshIntent", handle, SessionRecord.lackingDoubt)
            }
        }
        unsafe checkSecret(row, LoginColumns.cellColumn + 1, login, login.refreshTag, .refresh, user, view) {
            plaintext throws(VaultCryptoError) in _ = try unsafe RefreshRecord(plaintext)
        }
        unsafe checkSecret(row, LoginColumns.cellColumn + 2, login, login.keyTag, .key, user, view) {
            plaintext throws(VaultCryptoError) in _ = try unsafe KeyRecord(plaintext)
        }
        checkUnusableReplies(of: login, user, view)
        if (try? IntentRecord(row, opener, login: login.handle)) == nil, !row.isNull(IntentRecord.firstColumn) {
            note("refreshIntent", handle, "its authentication code is wrong")
        }
    }

    /// A user whose manifest is divided has exactly the parts that the cell names; any other user has none.
    private func checkManifestParts(
        of user: UserColumns, _ view: UserCellView, _ known: KnownLogins
    ) throws(StoreError) {
        let count = view.parts?.count ?? 0
        report.cells += count - known.damage.count
        for (number, error) in known.damage.sorted(by: { $0.key < $1.key }) {
            notePart(ManifestPart.row(number, ofUserRow: user.rowID), error.message)
        }
        try opener.eachPartRow(ofUserRow: user.rowID) { number, row in
            countRow()
            if number >= count { notePart(row.integer(0), "its user does not name it") }
        }
    }

    private func notePart(_ row: Int64?, _ reason: String) {
        report.note(ManifestPart.tableName, row.map { "row \($0)" }, reason)
    }

    /// Parts are checked with their users, so only parts without a user remain here.
    func checkManifestPart(_ row: any RowCursor) throws(StoreError) {
        let id = row.integer(0)
        if try tables.has(.rowsByNumber[.user], ManifestPart.place(ofRow: id).userRow) { return }
        notePart(id, "its user is missing")
    }

    /// The number of replies is not authenticated: see `docs/vault-format.md`.
    private func checkUnusableReplies(of login: LoginColumns, _ user: UserHandle, _ view: UserCellView) {
        do throws(StoreError) {
            let row = try tables.cursor(.unusableRepliesOfLoginRow)
            row.bind(1, login.rowID)
            defer { row.reset() }
            while try row.step() {
                do throws(StoreError) {
                    _ = try unsafe opener.unusableReply(row, from: 0, login.handle, user, view.dataKey)
                    report.cells += 1
                } catch {
                    note("unusableReply", row.bytes16(0), error.message)
                }
            }
        } catch {
            note("unusableReply", login.handle.bytes, "its rows cannot be read: \(error.message)")
        }
    }

    /// Checks a cell of `loginSecret`: it must exist exactly if the session cell is bound to its tag.
    private func checkSecret(
        _ row: any RowCursor, _ column: Int32, _ login: LoginColumns, _ tag: CellTag?, _ kind: CellKind,
        _ user: UserHandle, _ view: UserCellView, _ read: (UnsafeRawBufferPointer) throws(VaultCryptoError) -> Void
    ) {
        let handle = login.handle.bytes
        guard let tag else {
            if !row.isNull(column) {
                note("loginSecret", handle, "it holds a \(kind) cell that its login does not name")
            }
            return
        }
        let cell = unsafe row.blob(column)
        guard !row.isNull(column), (try? unsafe SealedCell.tag(of: cell)) == tag else {
            note("loginSecret", handle, "its \(kind) cell is not the one that its login names")
            return
        }
        unsafe checkCell(
            "loginSecret", handle, cell, kind, view.dataKey, user, login.secretData(context.vaultID, user), read)
    }

    private func checkCell(
        _ table: String, _ handle: Bytes16, _ cell: UnsafeRawBufferPointer, _ kind: CellKind,
        _ dataKey: UnsafeRawBufferPointer, _ user: UserHandle, _ data: borrowing AssociatedData,
        _ read: (UnsafeRawBufferPointer) throws(VaultCryptoError) -> Void
    ) {
        do throws(VaultCryptoError) {
            let opened = try unsafe SealedCell.Opened(
                cell, kind: kind, key: dataKey, keyID: KeyID(user.bytes), associatedData: data, scratch: scratch)
            defer { opened.wipe(scratch) }
            try unsafe read(opened.plaintext)
            report.cells += 1
        } catch {
            note(table, handle, error.message)
        }
    }
}

extension Query {
    fileprivate static let unusableRepliesOfLoginRow = select(
        Table.unusableReply.columns("handle", "receivedAt", "cell"), from: .unusableReply,
        where: [.equal(Table.unusableReply["login"], 1)], order: [.up(Table.unusableReply["id"])])
}
