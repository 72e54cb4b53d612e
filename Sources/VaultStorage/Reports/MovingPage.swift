/// A user who is moving to another vault, with everything that belongs to them.
package struct MovingUser: Sendable {
    package let user: StoredUser
    package let logins: [StoredLogin]
    /// Unusable replies of these logins.
    package let replies: [UnusableReplyRecord]
}

/// A page of the users who are moving, in the order of their handles.
package struct MovingPage: Sendable {
    package internal(set) var users: [MovingUser] = []
    package internal(set) var loginCount = 0
    /// Whether this page is the last.
    package internal(set) var isLast = false

    package init() {}
}

/// The numbers of the vault's rows, by kind.
package struct MoveCounts: Hashable, Sendable {
    package var providers: Int64 = 0
    package var users: Int64 = 0
    package var logins: Int64 = 0
    package var replies: Int64 = 0
    package var revocations: Int64 = 0

    package init() {}
}
