/// A login that is due according to the index: nothing of it is authenticated yet.
package struct DueLogin: Hashable, Sendable {
    package let login: LoginHandle
    package let provider: ProviderHandle?
    package let dueAt: Timestamp
    /// Whether there is a cell for a refresh token. A login without one can only be renewed by a handler.
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

/// A page of the logins that are due.
package struct DuePage: Sendable {
    package let logins: [DueLogin]
    /// Where the next page begins; nil after the last.
    package let cursor: DueCursor?
    /// The last row of this page; nil if it is empty. A later search continues from here.
    package let end: DueCursor?
    /// When the next login will be due; nil if none will be.
    package let nextDueAt: Timestamp?

    package init(logins: [DueLogin], cursor: DueCursor?, nextDueAt: Timestamp?, end: DueCursor? = nil) {
        self.logins = logins
        self.cursor = cursor
        self.end = end
        self.nextDueAt = nextDueAt
    }
}
