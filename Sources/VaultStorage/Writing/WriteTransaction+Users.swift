import VaultCrypto

extension WriteTransaction {
    static var userIdLimit: Int { 1024 }

    /// The index under which the user with that id is stored, or would be.
    func index(ofUserId id: String) throws(StoreError) -> BlindIndex {
        let indexes = rows.keyring.blindIndexes(ofUserId: id)
        guard let former = indexes.former else { return indexes.current }
        for index in [indexes.current, former] {
            let row = try tables.cursor(.userByIndex)
            let isThere = try row.withBinding(1, index.bytes) { () throws(StoreError) in try row.step() }
            if isThere { return index }
        }
        return indexes.current
    }

    /// The user with that index; `nil` if the vault has none.
    func loadUser(_ index: BlindIndex) throws(StoreError) -> OpenUser? {
        let user = try loadUserOfAnyTime(index)
        if let user { try requireNewest(user.columns) }
        return user
    }

    /// Loads the user even in a former state that was put back, in order to erase the user.
    func loadUserOfAnyTime(_ index: BlindIndex) throws(StoreError) -> OpenUser? {
        let row = try tables.cursor(.userByIndex)
        row.bind(1, index.bytes)
        defer { row.reset() }
        guard try row.step() else { return nil }
        let columns = try UserColumns(row)
        return try opener.withUser(row, columns) { view throws(StoreError) in try openUser(columns, view) }
    }

    /// Refuses an opened user in a state older than this process knows or the audit trail records.
    func requireNewest(_ user: UserColumns) throws(StoreError) {
        if savedUsers[user.handle] == user.revision || context.seen.revision(of: user.handle) == user.revision {
            return
        }
        if context.seen.hasSeenLater(of: user.handle, than: user.revision) { throw .isOlderThanSeen(user.handle) }
        try requireNotToldLater(user)
    }

    /// Refuses a user if the audit trail records a newer state. This also runs before a refresh token of theirs is
    /// spent.
    func requireNotToldLater(_ user: UserColumns) throws(StoreError) {
        if try AuditTrail(opener).laterRevision(than: user) != nil { throw .isOlderThanTold(user.handle) }
    }

    /// The user's logins that open, and the handles of those that do not. Damaged logins must not block changes to the
    /// others, or disabling or erasing the user.
    func loadLogins(
        of index: BlindIndex, _ owner: OpenUser
    ) throws(StoreError) -> (logins: [OpenLogin], damaged: [LoginHandle]) {
        let row = try tables.cursor(.loginsOfUser)
        return try row.withBinding(1, index.bytes) { () throws(StoreError) in
            guard try row.step() else { return ([], owner.manifest.logins) }
            let user = try UserColumns(row)
            // Each row has the same user, who is opened once for any number of logins.
            return try opener.withUser(row, user) { view throws(StoreError) in
                let view = try opener.indexed(view, user)
                var (logins, damaged): ([OpenLogin], [LoginHandle]) = ([], [])
                repeat {
                    if row.isNull(LoginColumns.firstColumn) { break }
                    if let login = try? opener.login(row, try LoginColumns(row), user, view) {
                        logins.append(login)
                    } else if let handle = row.bytes16(LoginColumns.firstColumn + 1).map({ LoginHandle($0) }),
                        view.known?.mayName(handle, view.parts) ?? false
                    {
                        damaged.append(handle)
                    }
                } while try row.step()
                let whole = Set(logins.map(\.columns.handle))
                let known = view.parts == nil ? owner.manifest.logins : view.known?.logins ?? []
                return (logins, known.filter { !whole.contains($0) } + damaged)
            }
        }
    }

    func openUser(_ columns: UserColumns, _ view: UserCellView) throws(StoreError) -> OpenUser {
        do throws(VaultCryptoError) {
            return try OpenUser(columns: columns, cell: view)
        } catch {
            throw .quarantined("user", columns.handle.bytes, error)
        }
    }

    /// Creates a user that the vault does not have. ``save(_:telling:)`` creates the row.
    ///
    /// - Parameter dataKey: The user's data key, if there is one already; its id is the user's handle.
    func makeUser(
        _ id: String, _ index: BlindIndex, _ dataKey: SealingKey? = nil
    ) throws(StoreError) -> OpenUser {
        guard !id.isEmpty, id.utf8.count <= Self.userIdLimit else {
            throw StoreError(.invalidValue, "a user id has from 1 to \(Self.userIdLimit) bytes")
        }
        let columns = UserColumns(
            rowID: UserColumns.noRow, handle: dataKey.map { Handle($0.id.bytes) } ?? userHandles.next(),
            blindIndex: index,
            rootKey: context.keyring.primaryRoot.id)
        return try sealing { () throws(VaultCryptoError) in
            try OpenUser(new: columns, id: id, createdAt: now(), dataKey)
        }
    }

    /// The events that an operation records of one user.
    struct Tale {
        var events: [(event: AuditEvent, login: LoginHandle?)] = []

        mutating func add(_ events: [AuditEvent], of login: LoginHandle?) {
            for event in events { self.events.append((event, login)) }
        }
    }

    /// Writes a changed or new user: a new revision, sealed under the primary root, and the audit rows that record it.
    func save(_ user: inout OpenUser, telling tale: Tale) throws(StoreError) {
        let formerRoot = user.columns.rootKey
        user.columns.revision += 1
        user.columns.rootKey = context.keyring.primaryRoot.id
        user.columns.auditSequence = head.sequence + Int64(tale.events.count)
        let parts = try sealParts(of: &user)
        let saved = user
        let cell = try sealing { () throws(VaultCryptoError) in try saved.seal(context) }
        if user.columns.rowID == UserColumns.noRow {
            user.columns.rowID = try insert(saved.columns, cell)
        } else {
            try update(saved.columns, cell, hasOtherRoot: saved.columns.rootKey != formerRoot)
        }
        try write(parts, of: &user)
        savedUsers[user.columns.handle] = user.columns.revision
        try tell(tale, of: user)
    }

    private func insert(_ user: UserColumns, _ cell: [UInt8]) throws(StoreError) -> Int64 {
        let insert = try tables.cursor(.insertUser)
        insert.bind(1, user.handle.bytes)
        insert.bind(2, user.blindIndex.bytes)
        insert.bind(3, user.revision)
        insert.bind(4, user.auditSequence)
        insert.bind(5, user.rootKey.bytes)
        try insert.run(6, borrowing: cell)
        return tables.lastInsertedRow
    }

    /// Sets the root key only if it differs: an engine rewrites the key's index even if the value stays the same.
    private func update(_ user: UserColumns, _ cell: [UInt8], hasOtherRoot: Bool) throws(StoreError) {
        let update = try tables.cursor(hasOtherRoot ? .updateUserAndRoot : .updateUser)
        update.bind(1, user.rowID)
        update.bind(2, user.revision)
        update.bind(3, user.auditSequence)
        if hasOtherRoot { update.bind(5, user.rootKey.bytes) }
        try update.run(4, borrowing: cell)
    }

    func tell(_ tale: Tale, of user: OpenUser) throws(StoreError) {
        for (event, login) in tale.events {
            try audit(
                event,
                about: AuditSubject(user: user.columns.handle, login: login, revision: user.columns.revision))
        }
    }

    /// Erases a user by crypto-shredding: the data key goes with the user cell, and with it everything that the key
    /// sealed.
    func erase(_ user: OpenUser, telling tale: Tale) throws(StoreError) {
        try deleteUser(user.columns.rowID)
        try endPendingLogIns(of: user.id)
        var user = user
        // Higher than each state that could be put back, in which this one existed.
        let last = max(user.columns.revision, try AuditTrail(opener).lastRevision(of: user.columns.handle))
        user.columns.revision = last + 1
        var tale = tale
        tale.add([AuditEvent(.userErased)], of: nil)
        try tell(tale, of: user)
    }

    /// Deletes the user's row and all rows that depend on it.
    func deleteUser(_ rowID: Int64) throws(StoreError) {
        for login in try tables.loginRows(ofUserRow: rowID) { try deleteLogin(login.row) }
        try deleteManifestParts(ofUserRow: rowID)
        let delete = try tables.cursor(.deletesByNumber[.user])
        delete.bind(1, rowID)
        try delete.run()
    }
}

extension Query {
    fileprivate static let insertUser = insert(
        into: .user, "handle", "blindIndex", "revision", "auditSequence", "rootKey", "cell")

    fileprivate static let updateUser = update(
        .user, "revision", "auditSequence", "cell", first: 2, where: [.equal(Table.user["id"], 1)])

    fileprivate static let updateUserAndRoot = update(
        .user, "revision", "auditSequence", "cell", "rootKey", first: 2, where: [.equal(Table.user["id"], 1)])
}
