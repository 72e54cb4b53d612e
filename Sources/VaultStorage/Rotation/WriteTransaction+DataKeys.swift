import VaultCrypto

/// The result of one batch of a replacement of data keys.
package struct ReplacedDataKeys: Sendable, Equatable {
    package internal(set) var users = 0
    /// Users that cannot be opened, or with a login that cannot be opened: their data keys stay.
    package internal(set) var unreadable = 0
    package internal(set) var looked = 0
    /// The last row that was examined; nil if there was none.
    package internal(set) var last: Int64?
}

extension WriteTransaction {
    /// Gives the user a new data key, and reseals everything under it.
    ///
    /// - Throws: if a login of the user does not open: it could never be opened again.
    package func replaceDataKey(ofUser id: String) throws(StoreError) {
        try replaceDataKey(of: index(ofUserId: id))
    }

    /// Replaces the data keys of users that were made before a time.
    ///
    /// - Parameters:
    ///   - row: The row after which to continue.
    ///   - limit: The maximum number of users.
    package func replaceDataKeys(
        madeBefore time: Timestamp, after row: Int64, limit: Int
    ) throws(StoreError) -> ReplacedDataKeys {
        var result = ReplacedDataKeys()
        var logins = 0
        for user in try users(after: row, limit: limit) {
            // One user may have thousands of logins, and other writers must wait only for some milliseconds.
            if logins >= limit { break }
            result.last = user.row
            result.looked += 1
            do throws(StoreError) {
                guard let age = user.age else { throw .quarantined("user", nil, "the row does not open") }
                guard age < time else { continue }
                logins += try replaceDataKey(of: user.index)
                result.users += 1
            } catch {
                guard error.isOfRow else { throw error }
                result.unreadable += 1
            }
        }
        return result
    }

    /// Returns the number of the user's logins.
    @discardableResult
    private func replaceDataKey(of index: BlindIndex) throws(StoreError) -> Int {
        guard var user = try loadUser(index) else { throw .notFound(.user) }
        let (logins, damaged) = try loadLogins(of: index, user)
        if let first = damaged.first {
            throw .quarantined("login", first.bytes, "it does not open, so its user's data key cannot be replaced")
        }
        try openManifest(of: &user)
        user.manifest.noteAllChanged()
        let former = user.dataKey
        let time = now()
        try sealing { () throws(VaultCryptoError) in try user.replaceDataKey(at: time) }
        for login in logins {
            try reseal(login, of: &user)
            try resealUnusableReplies(of: login, user, from: former)
        }
        var tale = Tale()
        tale.add([AuditEvent(.dataKeyReplaced)], of: nil)
        try save(&user, telling: tale)
        return logins.count
    }

    /// - Returns: When each data key was made; nil if the row does not open.
    private func users(
        after row: Int64, limit: Int
    ) throws(StoreError) -> [(row: Int64, index: BlindIndex, age: Timestamp?)] {
        guard row < .max else { return [] }
        let users = try tables.cursor(.users)
        defer { users.reset() }
        users.bind(1, row + 1)
        users.bind(2, Int64(limit))
        var found: [(row: Int64, index: BlindIndex, age: Timestamp?)] = []
        while try users.step() {
            do throws(StoreError) {
                let columns = try UserColumns(users)
                let age = try opener.withUser(users, columns) { $0.dataKeyMadeAt ?? $0.createdAt }
                found.append((columns.rowID, columns.blindIndex, age))
            } catch {
                guard error.isOfRow else { throw error }
                found.append((users.integer(0), BlindIndex(.zero), nil))
            }
        }
        return found
    }
}
