/// The index key of a vault, by which users, providers and pending log-ins are found.
package struct IndexKeyStatus: Equatable, Sendable {
    /// Nil for a vault's first.
    package let madeAt: Timestamp?
    /// Whether some rows may still be found by the former key alone.
    package let isReplacing: Bool
}

/// What a replacement of the index key has done.
package struct IndexKeyReport: Equatable, Sendable {
    /// Whether it went on with one that had been begun before.
    package let isResumed: Bool
    /// Rows that have a new index from this time on.
    package internal(set) var moved = IndexedRows()
    /// Rows that do not open, and so cannot get one. The former key is kept for them.
    package internal(set) var unreadable = IndexedRows()

    package var isComplete: Bool { unreadable.total == 0 }
}

/// Rows that are found by a blind index, by their tables.
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
