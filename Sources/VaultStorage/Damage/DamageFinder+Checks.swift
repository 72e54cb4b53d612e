import VaultCrypto

extension DamageFinder {
    /// The row's damage, if opening it throws one. Any other error is not the row's fault and is rethrown.
    private func damage(
        _ place: DamagedRow.Place, _ handle: Bytes16?, _ open: () throws(StoreError) -> Void
    ) throws(StoreError) -> DamagedRow? {
        do throws(StoreError) { try open() } catch {
            guard error.isOfRow else { throw error }
            return DamagedRow(place: place, handle: handle, damage: error)
        }
        return nil
    }

    func checkProvider(_ id: Int64) throws(StoreError) -> DamagedRow? {
        let row = try tables.cursor(.providerByRow)
        defer { row.reset() }
        row.bind(1, id)
        guard try row.step() else { return nil }
        var found = try damage(.row(.provider, id: id), row.bytes16(0)) { () throws(StoreError) in
            _ = try opener.provider(row)
        }
        found?.provider = row.bytes16(0).map { ProviderHandle($0) }
        return found
    }

    func checkUser(_ id: Int64) throws(StoreError) -> DamagedRow? {
        let row = try tables.cursor(.userByRow)
        defer { row.reset() }
        row.bind(1, id)
        guard try row.step() else { return nil }
        var found = try damage(.row(.user, id: id), row.bytes16(1)) { () throws(StoreError) in
            try opener.withUser(row, try UserColumns(row)) { _ in }
        }
        found?.user = row.bytes16(1).map { UserHandle($0) }
        return found
    }

    func checkLogin(_ id: Int64) throws(StoreError) -> DamagedRow? {
        let row = try tables.cursor(.loginByRow)
        defer { row.reset() }
        row.bind(1, id)
        guard try row.step() else { return nil }
        let handle = row.bytes16(LoginColumns.firstColumn + 1)
        var userId: String?
        var part: Int64?
        var found = try damage(.row(.login, id: id), handle) { () throws(StoreError) in
            let columns = try LoginColumns(row)
            guard !row.isNull(0) else { throw .quarantined("login", handle, "its user is missing") }
            let user = try UserColumns(row)
            try opener.withUser(row, user) { view throws(StoreError) in
                userId = view.userIdText
                part = view.parts.flatMap { ManifestPart.row(columns.handle.part($0.bits), ofUserRow: user.rowID) }
                _ = try opener.login(row, columns, user, view)
            }
        }
        if let part, let found, found.damage.isOfManifestPart { return try checkManifestPart(part) }
        found?.user = row.bytes16(1).map { UserHandle($0) }
        found?.userId = userId
        found?.login = handle.map { LoginHandle($0) }
        found?.provider = row.bytes16(LoginColumns.firstColumn + 2).map { ProviderHandle($0) }
        return found
    }

    /// Checks for a row without its login. Other rows of these tables are checked with their login.
    func checkOrphan(_ table: DamagedRow.Table, _ id: Int64) throws(StoreError) -> DamagedRow? {
        let row = try tables.cursor(.withLogin[table.table])
        defer { row.reset() }
        row.bind(1, id)
        guard try row.step(), row.isNull(1) else { return nil }
        return DamagedRow(
            place: .row(table, id: id), handle: nil,
            damage: .quarantined(table.rawValue, nil, "its login is missing"))
    }

    func checkOutboxEntry(_ id: Int64) throws(StoreError) -> DamagedRow? {
        let row = try tables.cursor(.outboxByRow)
        defer { row.reset() }
        row.bind(1, id)
        guard try row.step() else { return nil }
        return try damage(.row(.outbox, id: id), row.bytes16(0)) { () throws(StoreError) in
            _ = try opener.outboxEntry(row)
        }
    }

    func checkAuthorizationRequest(_ id: Int64) throws(StoreError) -> DamagedRow? {
        let row = try tables.cursor(.authorizationRequestByRow)
        defer { row.reset() }
        row.bind(1, id)
        guard try row.step() else { return nil }
        return try damage(.row(.authorizationRequest, id: id), row.bytes16(0)) { () throws(StoreError) in
            _ = try opener.authorizationRequest(row)
        }
    }

    func checkObserver(_ id: Int64) throws(StoreError) -> DamagedRow? {
        let row = try tables.cursor(.observerByRow)
        defer { row.reset() }
        row.bind(1, id)
        guard try row.step() else { return nil }
        return try damage(.row(.observer, id: id), nil) { () throws(StoreError) in _ = try ObserverRecord(row, opener) }
    }

    func checkUnusableReply(_ id: Int64) throws(StoreError) -> DamagedRow? {
        let row = try tables.cursor(.unusableReplyByRow)
        defer { row.reset() }
        row.bind(1, id)
        guard try row.step() else { return nil }
        let (first, loginColumn) = (Reader.replyColumn, Reader.replyColumn + 3)
        let handle = row.bytes16(first)
        var found = try damage(.row(.unusableReply, id: id), handle) { () throws(StoreError) in
            guard let login = row.bytes16(loginColumn), !row.isNull(0) else {
                throw .quarantined("unusableReply", handle, "its login is missing")
            }
            let user = try UserColumns(row)
            try opener.withUser(row, user) { view throws(StoreError) in
                _ = try unsafe opener.unusableReply(row, from: first, LoginHandle(login), user.handle, view.dataKey)
            }
        }
        found?.user = row.bytes16(1).map { UserHandle($0) }
        found?.login = row.bytes16(loginColumn).map { LoginHandle($0) }
        return found
    }

    // MARK: Logins without a row

    func missingLogins(ofUserRow id: Int64) throws(StoreError) -> [LoginHandle] {
        guard let known = try manifest(ofUserRow: id) else { return [] }
        let missing = known.logins.subtracting(try tables.loginRows(ofUserRow: id).compactMap(\.handle))
        return missing.sorted { $0.bytes.array.lexicographicallyPrecedes($1.bytes.array) }
    }

    func checkMissing(_ login: LoginHandle, _ userRow: Int64) throws(StoreError) -> DamagedRow? {
        guard let known = try manifest(ofUserRow: userRow), known.logins.contains(login) else { return nil }
        if try tables.loginRows(ofUserRow: userRow).contains(where: { $0.handle == login }) { return nil }
        var found = DamagedRow(
            place: .missingLogin(login, userRow: userRow), handle: login.bytes,
            damage: .quarantined("login", login.bytes, "its row is missing"))
        (found.user, found.userId, found.login) = (known.user, known.userId, login)
        return found
    }

    private struct Manifest {
        let user: UserHandle
        let userId: String
        var logins: Set<LoginHandle>
    }

    /// Returns `nil` for a user that cannot be opened: then the missing logins are unknown.
    private func manifest(ofUserRow id: Int64) throws(StoreError) -> Manifest? {
        try opener.user(ofRow: id) { columns, view throws(StoreError) in
            Manifest(
                user: columns.handle, userId: view.userIdText,
                logins: Set(try opener.knownLogins(columns, view).entries.keys))
        }
    }
}

extension Query {
    /// The number of a row, and the number of its login if there is one.
    fileprivate static let withLogin = PerTable {
        select(
            $0.columns($0.key) + Table.login.columns("id"), from: $0,
            joins: [.optional(Table.login["id"], is: $0["login"])], where: [.equal($0[$0.key], 1)])
    }
}
