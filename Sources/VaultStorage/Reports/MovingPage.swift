/// A user on the way to another vault, with everything that hangs on them.
package struct MovingUser: Sendable {
    package let user: StoredUser
    package let logins: [StoredLogin]
    /// Replies that could not be used, of these logins.
    package let replies: [UnusableReplyRecord]
}

/// Some of the users on the way, in the order of their handles.
package struct MovingPage: Sendable {
    package internal(set) var users: [MovingUser] = []
    package internal(set) var loginCount = 0
    /// Whether these are the last.
    package internal(set) var isLast = false

    package init() {}
}

/// How much of what makes up a vault there is.
package struct MoveCounts: Hashable, Sendable {
    package var providers: Int64 = 0
    package var users: Int64 = 0
    package var logins: Int64 = 0
    package var replies: Int64 = 0
    package var revocations: Int64 = 0

    package init() {}
}
