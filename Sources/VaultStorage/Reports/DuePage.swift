/// A login whose time has come, as the index tells: nothing of it is authenticated yet.
package struct DueLogin: Hashable, Sendable {
    package let login: LoginHandle
    package let provider: ProviderHandle?
    package let dueAt: Timestamp
    /// Whether there is a cell for a refresh token. Only a handler can renew a login without.
    package let hasRefreshCell: Bool

    package init(login: LoginHandle, provider: ProviderHandle?, dueAt: Timestamp, hasRefreshCell: Bool) {
        self.login = login
        self.provider = provider
        self.dueAt = dueAt
        self.hasRefreshCell = hasRefreshCell
    }
}

/// Where a page of due logins ended.
package struct DueCursor: Hashable, Sendable {
    package let dueAt: Timestamp
    package let row: Int64

    package init(dueAt: Timestamp, row: Int64) {
        self.dueAt = dueAt
        self.row = row
    }
}

/// Some of the logins that are due.
package struct DuePage: Sendable {
    package let logins: [DueLogin]
    /// Where the next page begins; nil after the last.
    package let cursor: DueCursor?
    /// The last row of this page; nil if it is empty. Who comes back later goes on from here.
    package let end: DueCursor?
    /// When the first login is due that is not due yet; nil: none will be.
    package let nextDueAt: Timestamp?

    package init(logins: [DueLogin], cursor: DueCursor?, nextDueAt: Timestamp?, end: DueCursor? = nil) {
        self.logins = logins
        self.cursor = cursor
        self.end = end
        self.nextDueAt = nextDueAt
    }
}
