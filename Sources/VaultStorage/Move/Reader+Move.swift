import VaultCrypto

extension Reader {
    /// The current mark of a move in the vault.
    package func moveMark() throws(StoreError) -> MoveMark? { try opener.vaultRow().manifest.move }

    package func moveCounts() throws(StoreError) -> MoveCounts { try tables.moveCounts() }

    /// The end of the trail.
    package func trailHead() throws(StoreError) -> AuditPosition {
        try withSnapshot { () throws(StoreError) in
            try auditPosition(try auditHead()) ?? AuditPosition(sequence: 0, link: .genesis)
        }
    }

    /// Whole users, each with everything that belongs to them. Anything that does not open is an error, so that nothing
    /// is left behind unnoticed.
    ///
    /// - Parameters:
    ///   - handle: The last user of the previous page; nil for the first.
    ///   - logins: The number of logins that is enough for a page.
    package func movingUsers(
        after handle: UserHandle?, users limit: Int, logins most: Int
    ) throws(StoreError) -> MovingPage {
        try withSnapshot { () throws(StoreError) in
            let hasReplies = try tables.count(.unusableReply) > 0
            let row = try tables.cursor(.userPage)
            row.bind(2, Int64(limit.asPageLimit))
            return try row.withBinding(1, handle?.bytes ?? .zero) { () throws(StoreError) in
                var page = MovingPage()
                while page.loginCount < most {
                    guard try row.step() else {
                        page.isLast = page.users.count < limit.asPageLimit
                        return page
                    }
                    let user = try movingUser(row, hasReplies: hasReplies)
                    page.loginCount += user.logins.count
                    page.users.append(user)
                }
                return page
            }
        }
    }

    private func movingUser(_ row: any RowCursor, hasReplies: Bool) throws(StoreError) -> MovingUser {
        let columns = try UserColumns(row)
        let (user, logins) = try withUser(row, columns) { view throws(StoreError) in
            var view = view
            let known = try opener.knownLogins(columns, view)
            if let damage = known.damage.values.first { throw damage }
            view.known = known
            let user = StoredUser(
                handle: columns.handle, id: view.userIdText, status: view.status, revision: columns.revision,
                createdAt: view.createdAt, logins: known.logins)
            return (user, try movingLogins(of: columns, view))
        }
        var replies: [UnusableReplyRecord] = []
        if hasReplies {
            for login in logins {
                for listing in try unusableReplies(of: login.handle) {
                    if let damage = listing.damage { throw damage }
                    if let record = listing.record { replies.append(record) }
                }
            }
        }
        return MovingUser(user: user, logins: logins, replies: replies)
    }

    private func movingLogins(of user: UserColumns, _ view: UserCellView) throws(StoreError) -> [StoredLogin] {
        let row = try tables.cursor(.wholeLoginsOfUserRow)
        defer { row.reset() }
        row.bind(1, user.rowID)
        var logins: [StoredLogin] = []
        while try row.step() {
            let login = try opener.login(row, try LoginColumns(row), user, view)
            logins.append(login.stored(user: user.handle, userId: view.userIdText, status: view.status, context))
        }
        guard logins.count == view.loginCount else {
            throw .quarantined("user", user.handle.bytes, "its cell names a login whose row is missing")
        }
        return logins
    }

    /// Log-ins that were begun and not completed.
    ///
    /// - Parameter row: The end of the previous page; nil for the first.
    package func pendingLogIns(
        after row: Int64?, limit: Int
    ) throws(StoreError) -> (requests: [AuthorizationRequestRecord], last: Int64?) {
        let rows = try tables.cursor(.authorizationRequests)
        guard row != .max else { return ([], nil) }
        rows.bind(2, Int64(limit.asPageLimit))
        return try consistently { () throws(StoreError) in
            try rows.withBinding(1, row.map { $0 + 1 } ?? .min) { () throws(StoreError) in
                var requests: [AuthorizationRequestRecord] = []
                var last: Int64?
                while try rows.step() {
                    last = rows.integer(3)
                    requests.append(try opener.authorizationRequest(rows))
                }
                return (requests, last)
            }
        }
    }
}
