import VaultCrypto

extension Reader {
    /// Repeats the look-up of a user that was not found by the index known to this process. The row's index differs
    /// while the index key is being replaced, and after another process has replaced it.
    func checkAgain<R>(
        forUser id: String, knownBy keyring: Keyring, _ body: (Reader, BlindIndex) throws(StoreError) -> R
    ) throws(StoreError) -> R {
        // The row must not be moved between the two look-ups.
        try withSnapshot { () throws(StoreError) in
            let newest = try opener.vaultRow().keyring
            guard newest !== keyring || newest.formerIndexKey != nil else { throw .notFound(.user) }
            for index in newest.blindIndexes(ofUserId: id).all {
                do throws(StoreError) { return try body(self, index) } catch {
                    guard error.code == .notFound(.user) else { throw error }
                }
            }
            throw .notFound(.user)
        }
    }

    func user(_ index: BlindIndex) throws(StoreError) -> StoredUser {
        let row = try tables.cursor(.userByIndex)
        return try consistently { () throws(StoreError) in
            try row.withBinding(1, index.bytes) { () throws(StoreError) in
                guard try row.step() else { throw StoreError.notFound(.user) }
                return try storedUser(row)
            }
        }
    }

    package func users(after: UserHandle?, limit: Int) throws(StoreError) -> [UserListing] {
        let row = try tables.cursor(.userPage)
        row.bind(2, Int64(limit.asPageLimit))
        return try consistently { () throws(StoreError) in
            try row.withBinding(1, after?.bytes ?? .zero) { () throws(StoreError) in
                var result: [UserListing] = []
                while try row.step() { result.append(listing(row)) }
                return result
            }
        }
    }

    private func listing(_ row: any RowCursor) -> UserListing {
        let handle = UserHandle(row.bytes16(1) ?? .zero)
        do throws(StoreError) {
            return UserListing(handle: handle, user: try storedUser(row), damage: nil)
        } catch {
            opener.noteTear()
            return UserListing(handle: handle, user: nil, damage: error)
        }
    }

    /// The providers of a user's logins, as the rows claim.
    func providers(ofUser index: BlindIndex) throws(StoreError) -> Set<ProviderHandle> {
        let row = try tables.cursor(.providersOfUser)
        return try row.withBinding(1, index.bytes) { () throws(StoreError) in
            var handles: Set<ProviderHandle> = []
            while try row.step() { if let handle = row.bytes16(0) { handles.insert(ProviderHandle(handle)) } }
            return handles
        }
    }

    package func userId(of handle: UserHandle) throws(StoreError) -> String {
        let row = try tables.cursor(.userByHandle)
        return try consistently { () throws(StoreError) in
            try row.withBinding(1, handle.bytes) { () throws(StoreError) in
                guard try row.step() else { throw StoreError.notFound(.user) }
                return try withUser(row, try UserColumns(row)) { view in view.userIdText }
            }
        }
    }

    private func storedUser(_ row: any RowCursor) throws(StoreError) -> StoredUser {
        let columns = try UserColumns(row)
        return try withUser(row, columns) { view throws(StoreError) in
            return StoredUser(
                handle: columns.handle, id: view.userIdText, status: view.status, revision: columns.revision,
                createdAt: view.createdAt, logins: try logins(of: columns, view))
        }
    }

    /// The logins in the order of their creation. A manifest in parts does not record that order, but the rows do.
    private func logins(of user: UserColumns, _ view: UserCellView) throws(StoreError) -> [LoginHandle] {
        guard view.parts != nil else { return view.entries.map(\.login) }
        let known = try opener.knownLogins(user, view)
        var missing = Set(known.entries.keys)
        let there = try tables.loginRows(ofUserRow: user.rowID).compactMap(\.handle).filter { login in
            missing.remove(login) != nil || known.mayName(login, view.parts)
        }
        return there + missing.sorted { $0.bytes < $1.bytes }
    }
}
