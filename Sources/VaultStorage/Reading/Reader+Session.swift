import VaultCrypto

/// The hot read: one point query and two cells, or three with the login's key.
extension Reader {
    func session(ofUser index: BlindIndex, withKey: Bool = false) throws(StoreError) -> SessionSnapshot {
        try consistently { () throws(StoreError) in try readSession(ofUser: index, withKey) }
    }

    /// - Parameter prefix: How the id of the login's user must begin.
    package func session(
        ofLogin handle: LoginHandle, ofUsers prefix: String = "", withKey: Bool = false
    ) throws(StoreError) -> SessionSnapshot {
        try consistently { () throws(StoreError) in try readSession(ofLogin: handle, prefix, withKey) }
    }

    /// The login of a user at one provider, if exactly one living login is there. Logins at other providers are not
    /// opened. A login that does not open may be at any provider, so a caller that finds none here must check all of
    /// them.
    func session(
        ofUser index: BlindIndex, at provider: ProviderHandle, withKey: Bool = false
    ) throws(StoreError) -> SessionSnapshot? {
        try consistently { () throws(StoreError) in
            let row = try tables.cursor(withKey ? .sessionsAndKeysOfUserAtProvider : .sessionsOfUserAtProvider)
            row.bind(1, index.bytes)
            row.bind(2, provider.bytes)
            defer { row.reset() }
            guard try row.step() else { throw StoreError.notFound(.user) }
            let user = try UserColumns(row)
            return try withUser(row, user) { view throws(StoreError) in
                var found: [SessionSnapshot] = []
                guard !row.isNull(LoginColumns.firstColumn) else { return nil }
                repeat {
                    found.append(try snapshot(row, try LoginColumns(row), user, view, withKey))
                } while try row.step()
                let living = found.filter(\.session.isLiving)
                return living.count == 1 ? living.first : nil
            }
        }
    }

    @inline(__always)
    private func readSession(ofUser index: BlindIndex, _ withKey: Bool) throws(StoreError) -> SessionSnapshot {
        let row = try sessionsOfUser(withKey)
        row.bind(1, index.bytes)
        defer { row.reset() }
        guard try row.step() else { throw StoreError.notFound(.user) }
        let user = try UserColumns(row)
        return try withUser(row, user) { view throws(StoreError) in try only(row, user, view, withKey) }
    }

    @inline(__always)
    private func readSession(
        ofLogin handle: LoginHandle, _ prefix: String, _ withKey: Bool
    ) throws(StoreError) -> SessionSnapshot {
        let row = try sessionOfLogin(withKey)
        row.bind(1, handle.bytes)
        defer { row.reset() }
        guard try row.step() else { throw StoreError.notFound(.login) }
        let user = try UserColumns(row)
        return try withUser(row, user) { view throws(StoreError) in
            guard unsafe prefix.isEmpty || view.userId.starts(with: prefix.utf8) else { throw .notFound(.login) }
            return try snapshot(row, try LoginColumns(row), user, view, withKey)
        }
    }

    /// The login to use when the caller names none. The rows must be exactly those that the user cell names. Of several
    /// logins no key is opened: only one is meant.
    private func only(
        _ row: any RowCursor, _ user: UserColumns, _ view: UserCellView, _ withKey: Bool
    ) throws(StoreError) -> SessionSnapshot {
        let expected = view.loginCount
        if row.isNull(LoginColumns.firstColumn) {
            guard expected == 0 else { throw Self.missingLogin(user) }
            throw .notFound(.login)
        }
        let first: SessionSnapshot
        do throws(StoreError) {
            first = try snapshot(row, try LoginColumns(row), user, view, withKey && expected == 1)
        } catch {
            guard error.isOfRow, try row.step() else { throw error }
            return try choose([], error, row, user, view)
        }
        guard try row.step() else {
            if expected == 1 { return first }
            return try chosen(among: [first], Self.missingLogin(user))
        }
        return try choose([first], nil, row, user, view)
    }

    /// Chooses among several, starting with the current row.
    private func choose(
        _ before: [SessionSnapshot], _ damageBefore: StoreError?, _ row: any RowCursor, _ user: UserColumns,
        _ view: UserCellView
    ) throws(StoreError) -> SessionSnapshot {
        var (all, damage) = (before, damageBefore)
        let view = try opener.indexed(view, user)
        repeat {
            do throws(StoreError) { all.append(try snapshot(row, try LoginColumns(row), user, view)) } catch {
                guard error.isOfRow else { throw error }
                opener.noteTear()
                damage = damage ?? error
            }
        } while try row.step()
        return try chosen(among: all, damage ?? (all.count == view.loginCount ? nil : Self.missingLogin(user)))
    }

    /// The living login, else the dead one, else the only one of all. A damaged or missing login does not hide a living
    /// or dead one. But it may itself have been alive, so a terminated login is never chosen next to it.
    private func chosen(among all: [SessionSnapshot], _ damage: StoreError?) throws(StoreError) -> SessionSnapshot {
        let candidates = all.filterMeant(\.session)
        if let damage, candidates.allSatisfy({ $0.session.state == .terminated }) { throw damage }
        if candidates.count == 1, let found = candidates.first { return found }
        throw StoreError(
            .ambiguousLogin(candidates.map(\.login)),
            "the user has \(candidates.count) logins and none is named", hint: "name one of them")
    }

    static func missingLogin(_ user: UserColumns) -> StoreError {
        .quarantined("user", user.handle.bytes, "it does not have the logins that its cell names")
    }

    @inline(__always)
    private func snapshot(
        _ row: any RowCursor, _ columns: LoginColumns, _ user: UserColumns, _ view: UserCellView,
        _ withKey: Bool = false
    ) throws(StoreError) -> SessionSnapshot {
        let session = try opener.session(row, columns, user, view)
        return SessionSnapshot(
            login: columns.handle, user: user.handle, userStatus: view.status, provider: columns.provider,
            position: columns.position, incarnation: columns.incarnation,
            isHeld: columns.incarnation < context.incarnation, isRefreshable: columns.refreshTag != nil,
            isDPoPBound: columns.keyTag != nil, session: session,
            key: withKey && columns.keyTag != nil ? try opener.key(row, columns, user, view) : nil)
    }
}

extension Sequence {
    /// The candidates among a user's logins when the caller names none: the living ones, else the dead ones, else all.
    package func filterMeant(_ session: (Element) -> SessionRecord?) -> [Element] {
        let all = Array(self)
        for isMeant in [\SessionRecord.isLiving, \.isNotTerminated] {
            let found = all.filter { session($0)?[keyPath: isMeant] ?? false }
            if !found.isEmpty { return found }
        }
        return all
    }
}

extension SessionRecord {
    fileprivate var isNotTerminated: Bool { state != .terminated }
}
