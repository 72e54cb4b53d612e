import VaultCrypto

/// Opens some users of a copy, with everything that their logins hold.
package enum BackupSample {
    /// - Parameter context: the context of the vault that was copied.
    package static func check(
        _ tables: any TableAccess, _ context: VaultContext, users count: Int
    ) throws(StoreError) {
        let row = try context.load(tables, known: context.rows.current, isAnew: true)
        let opener = try RowOpener(tables, context, rows: VaultRowKeeper(row))
        for _ in 0..<count {
            let users = try tables.cursor(.userPage)
            defer { users.reset() }
            // Handles are random: the next one after a random number is a random user.
            users.bind(1, SecureRandom.bytes16())
            users.bind(2, 1)
            guard try users.step() else { continue }
            try open(users, opener)
        }
    }

    private static func open(_ user: any RowCursor, _ opener: RowOpener) throws(StoreError) {
        let columns = try UserColumns(user)
        try opener.withUser(user, columns) { view throws(StoreError) in
            let logins = try opener.tables.cursor(.wholeLoginsOfUserRow)
            defer { logins.reset() }
            logins.bind(1, columns.rowID)
            while try logins.step() { _ = try opener.login(logins, try LoginColumns(logins), columns, view) }
        }
    }
}
