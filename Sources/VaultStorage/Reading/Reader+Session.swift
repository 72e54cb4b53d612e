import VaultCrypto

/// The hot read: one point query and two cells.
extension Reader {
    func session(ofUser index: BlindIndex, _ wanted: LoginHandle?) throws(StoreError) -> SessionSnapshot {
        try sessionsOfUser.withBinding(1, index.bytes) { () throws(StoreError) in
            let row = sessionsOfUser
            guard try row.step() else { throw StoreError.notFound(.user) }
            let user = try UserColumns(row)
            return try opener.withUser(row, user) { view throws(StoreError) in
                try requireNotSeenLater(user)
                if let wanted { return try named(wanted, row, user, view) }
                return try only(row, user, view)
            }
        }
    }

    func session(ofLogin handle: LoginHandle) throws(StoreError) -> SessionSnapshot {
        try sessionOfLogin.withBinding(1, handle.bytes) { () throws(StoreError) in
            let row = sessionOfLogin
            guard try row.step() else { throw StoreError.notFound(.login) }
            let user = try UserColumns(row)
            return try opener.withUser(row, user) { view throws(StoreError) in
                try requireNotSeenLater(user)
                return try snapshot(row, try LoginColumns(row), user, view)
            }
        }
    }

    /// The login that is meant when none is named. The rows must be exactly those that the user cell knows.
    private func only(
        _ row: Statement, _ user: UserColumns, _ view: UserCellView
    ) throws(StoreError) -> SessionSnapshot {
        let expected = view.loginCount
        if row.isNull(LoginColumns.firstColumn) {
            guard expected == 0 else { throw Self.missingLogin(user) }
            throw .notFound(.login)
        }
        let first = try snapshot(row, try LoginColumns(row), user, view)
        if expected == 1, try !row.step() { return first }
        return try choose(first, row, user, view)
    }

    /// Among several: the one that is not terminated, or the only one at all.
    private func choose(
        _ first: SessionSnapshot, _ row: Statement, _ user: UserColumns, _ view: UserCellView
    ) throws(StoreError) -> SessionSnapshot {
        var all = [first]
        // With one login in the manifest the row has been moved on already: a second row is there, and is foreign.
        var hasRow = view.loginCount == 1 ? true : try row.step()
        while hasRow {
            all.append(try snapshot(row, try LoginColumns(row), user, view))
            hasRow = try row.step()
        }
        guard all.count == view.loginCount else { throw Self.missingLogin(user) }
        let living = all.filter { $0.session.state != .terminated }
        let candidates = living.isEmpty ? all : living
        if candidates.count == 1, let found = candidates.first { return found }
        throw StoreError(
            .ambiguousLogin(candidates.map(\.login)),
            "the user has \(candidates.count) logins and none is named", hint: "name one of them")
    }

    private func named(
        _ wanted: LoginHandle, _ row: Statement, _ user: UserColumns, _ view: UserCellView
    ) throws(StoreError) -> SessionSnapshot {
        guard !row.isNull(LoginColumns.firstColumn) else { throw notFound(wanted, user, view) }
        repeat {
            let columns = try LoginColumns(row)
            if columns.handle == wanted { return try snapshot(row, columns, user, view) }
        } while try row.step()
        throw notFound(wanted, user, view)
    }

    private func notFound(_ wanted: LoginHandle, _ user: UserColumns, _ view: UserCellView) -> StoreError {
        view.entry(of: wanted) == nil ? .notFound(.login) : Self.missingLogin(user)
    }

    static func missingLogin(_ user: UserColumns) -> StoreError {
        .quarantined("user", user.handle.bytes, "it does not have the logins that its cell tells of")
    }

    @inline(__always)
    private func snapshot(
        _ row: Statement, _ columns: LoginColumns, _ user: UserColumns, _ view: UserCellView
    ) throws(StoreError) -> SessionSnapshot {
        SessionSnapshot(
            login: columns.handle, user: user.handle, userStatus: view.status, provider: columns.provider,
            position: columns.position, incarnation: columns.incarnation,
            isHeld: columns.incarnation < context.incarnation, isRefreshable: columns.refreshTag != nil,
            isDPoPBound: columns.keyTag != nil, session: try opener.session(row, columns, user, view))
    }
}
