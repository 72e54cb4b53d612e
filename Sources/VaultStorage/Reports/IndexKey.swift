/// The index key of a vault. Users, providers and pending log-ins are found by it.
package struct IndexKeyStatus: Equatable, Sendable {
    /// Nil for a vault's first key.
    package let madeAt: Timestamp?
    /// Whether some rows may still be found only by the former key.
    package let isReplacing: Bool
}

/// The result of replacing the index key.
package struct IndexKeyReport: Equatable, Sendable {
    /// Whether it continued a replacement that was begun before.
    package let isResumed: Bool
    /// Rows that got a new index this time.
    package internal(set) var moved = IndexedRows()
    /// Rows that do not open, and so cannot get a new index. The former key is kept for them.
    package internal(set) var unreadable = IndexedRows()

    package var isComplete: Bool { unreadable.total == 0 }
}

/// The number of rows that are found by a blind index, by table.
package struct IndexedRows: Equatable, Sendable {
    package var users = 0
    package var providers = 0
    package var authorizationRequests = 0

    package init() {}

    package var total: Int { users + providers + authorizationRequests }

    mutating func add(_ other: IndexedRows) {
        users += other.users
        providers += other.providers
        authorizationRequests += other.authorizationRequests
    }
}
