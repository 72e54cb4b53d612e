import VaultCrypto

extension Reader {
    package func login(_ handle: LoginHandle) throws(StoreError) -> StoredLogin {
        try consistently { () throws(StoreError) in try readLogin(handle) }
    }

    private func readLogin(_ handle: LoginHandle) throws(StoreError) -> StoredLogin {
        let row = try tables.cursor(.login)
        return try row.withBinding(1, handle.bytes) { () throws(StoreError) in
            guard try row.step() else { throw StoreError.notFound(.login) }
            let user = try UserColumns(row)
            // Determines whether the login is held, before a token is spent.
            try opener.vaultRow()
            return try withUser(row, user) { view throws(StoreError) in
                return try opener.login(row, try LoginColumns(row), user, view).stored(
                    user: user.handle, userId: view.userIdText, status: view.status, context)
            }
        }
    }

    package func logins(after: LoginHandle?, limit: Int) throws(StoreError) -> [LoginListing] {
        let row = try tables.cursor(.loginPage)
        row.bind(2, Int64(limit.asPageLimit))
        return try consistently { () throws(StoreError) in
            try row.withBinding(1, after?.bytes ?? .zero) { () throws(StoreError) in
                var result: [LoginListing] = []
                while try row.step() { result.append(listing(row)) }
                return result
            }
        }
    }

    /// All logins, page by page, for callers that visit each of them. The order has no meaning: handles are random, and
    /// rows that are stored together are read together.
    ///
    /// - Parameter row: The end of the previous page; nil for the first.
    package func logins(
        afterRow row: Int64?, limit: Int
    ) throws(StoreError) -> (logins: [LoginListing], last: Int64?) {
        let cursor = try tables.cursor(.loginsByRow)
        return try consistently { () throws(StoreError) in
            defer { cursor.reset() }
            cursor.bind(1, row ?? .min)
            cursor.bind(2, Int64(limit.asPageLimit))
            var result: [LoginListing] = []
            var last: Int64?
            while try cursor.step() {
                last = cursor.integer(LoginColumns.firstColumn)
                result.append(listing(cursor))
            }
            return (result, last)
        }
    }

    /// The logins of a user, and those that the user's cell names but the vault does not have.
    func logins(ofUser index: BlindIndex, after: LoginHandle?, limit: Int) throws(StoreError) -> [LoginListing] {
        // Several queries of one moment.
        try withSnapshot { () throws(StoreError) in
            if let page = try knownLogins(ofUser: index, after: after, limit: limit) { return page }
            return try allLogins(ofUser: index, after: after, limit: limit)
        }
    }

    /// The page in the order of the user's cell. It opens the cell once, and only the logins of the page. Returns `nil`
    /// if the cell cannot be opened, or if the number of its logins differs from the number of rows.
    private func knownLogins(
        ofUser index: BlindIndex, after: LoginHandle?, limit: Int
    ) throws(StoreError) -> [LoginListing]? {
        let row = try tables.cursor(.userByIndex)
        row.bind(1, index.bytes)
        defer { row.reset() }
        guard try row.step() else { throw StoreError.notFound(.user) }
        do throws(StoreError) {
            let user = try UserColumns(row)
            return try withUser(row, user) { view throws(StoreError) in
                guard try countLogins(ofUserRow: user.rowID) == view.loginCount else { return nil }
                let view = try opener.indexed(view, user)
                let known = try opener.knownLogins(user, view)
                guard known.damage.isEmpty else { return nil }
                let handles = known.entries.keys.map(\.bytes)
                let page = handles.filter { handle in after.map { $0.bytes < handle } ?? true }.sorted()
                return try page.prefix(limit.asPageLimit).map { handle throws(StoreError) in
                    try listing(LoginHandle(handle), of: user, view)
                }
            }
        } catch {
            guard error.isOfRow else { throw error }
            return nil
        }
    }

    private func countLogins(ofUserRow id: Int64) throws(StoreError) -> Int {
        let row = try tables.cursor(.loginCountOfUserRow)
        defer { row.reset() }
        row.bind(1, id)
        return try row.step() ? Int(row.integer(0)) : 0
    }

    /// A login that its user names. Its damage is part of the listing.
    private func listing(
        _ handle: LoginHandle, of user: UserColumns, _ view: UserCellView
    ) throws(StoreError) -> LoginListing {
        let row = try tables.cursor(.login)
        row.bind(1, handle.bytes)
        defer { row.reset() }
        let isThere = try row.step() && row.integer(0) == user.rowID
        do throws(StoreError) {
            guard isThere else { throw .quarantined("login", handle.bytes, "its row is missing") }
            let login = try opener.login(row, try LoginColumns(row), user, view)
            return LoginListing(
                handle: handle, userHandle: user.handle,
                login: login.stored(user: user.handle, userId: view.userIdText, status: view.status, context),
                damage: nil)
        } catch {
            opener.noteTear()
            return LoginListing(
                handle: handle, userHandle: isThere ? user.handle : nil, login: nil, damage: error)
        }
    }

    private func allLogins(
        ofUser index: BlindIndex, after: LoginHandle?, limit: Int
    ) throws(StoreError) -> [LoginListing] {
        let row = try tables.cursor(.loginsOfUser)
        let all = try row.withBinding(1, index.bytes) { () throws(StoreError) in
            guard try row.step() else { throw StoreError.notFound(.user) }
            var known = try expectedLogins(row)
            var result: [LoginListing] = []
            repeat {
                if row.isNull(LoginColumns.firstColumn) { break }
                let listing = listing(row)
                known.remove(listing.handle)
                result.append(listing)
            } while try row.step()
            for handle in known {
                let damage = StoreError.quarantined("login", handle.bytes, "its row is missing")
                result.append(LoginListing(handle: handle, userHandle: nil, login: nil, damage: damage))
            }
            return result
        }
        let sorted = all.sorted { $0.handle.bytes.array.lexicographicallyPrecedes($1.handle.bytes.array) }
        let start = after.map { after in
            sorted.firstIndex { after.bytes.array.lexicographicallyPrecedes($0.handle.bytes.array) } ?? sorted.count
        }
        return Array(sorted[(start ?? 0)...].prefix(limit.asPageLimit))
    }

    /// The logins that the user cell names. It is empty if the cell cannot be opened, which then shows on each of the
    /// user's logins.
    private func expectedLogins(_ row: any RowCursor) throws(StoreError) -> Set<LoginHandle> {
        let user = try UserColumns(row)
        let handles = try? withUser(row, user) { view throws(StoreError) in
            try opener.knownLogins(user, view).entries.keys
        }
        return handles.map { Set($0) } ?? []
    }

    /// Never throws: a row's damage is part of its listing.
    private func listing(_ row: any RowCursor) -> LoginListing {
        var handle = LoginHandle(row.bytes16(LoginColumns.firstColumn + 1) ?? .zero)
        var userHandle: UserHandle?
        do throws(StoreError) {
            let columns = try LoginColumns(row)
            handle = columns.handle
            guard !row.isNull(0) else { throw .quarantined("login", handle.bytes, "its user is missing") }
            let user = try UserColumns(row)
            userHandle = user.handle
            let login = try withUser(row, user) { view throws(StoreError) in
                try opener.login(row, columns, user, view).stored(
                    user: user.handle, userId: view.userIdText, status: view.status, context)
            }
            return LoginListing(handle: handle, userHandle: userHandle, login: login, damage: nil)
        } catch {
            opener.noteTear()
            return LoginListing(handle: handle, userHandle: userHandle, login: nil, damage: error)
        }
    }
}

extension TableAccess {
    /// Whether a login is at this provider.
    func hasLogins(of provider: ProviderHandle) throws(StoreError) -> Bool {
        let use = try cursor(.anyLoginOfProvider)
        return try use.withBinding(1, provider.bytes) { () throws(StoreError) in try use.step() }
    }

    /// The rows of a user's logins. A handle of another length is returned as nil.
    func loginRows(ofUserRow id: Int64) throws(StoreError) -> [(row: Int64, handle: LoginHandle?)] {
        let row = try cursor(.loginsOfUserRow)
        defer { row.reset() }
        row.bind(1, id)
        var rows: [(row: Int64, handle: LoginHandle?)] = []
        while try row.step() { rows.append((row.integer(0), row.bytes16(1).map { LoginHandle($0) })) }
        return rows
    }
}
