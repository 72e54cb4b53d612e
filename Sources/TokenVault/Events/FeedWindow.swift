import VaultStorage

/// For subscribers to all logins: the part of the index of due logins that has been read. Memory does not grow with the
/// vault: only logins whose token expires soon are remembered.
struct FeedWindow: Sendable {
    /// How far ahead of the clock the index is read. More than three minutes, so that no announcement comes late.
    static let span = Duration.seconds(600)
    /// A login is due at most this long before its token expires.
    private static let longestLead = Duration.seconds(600)
    static let pageSize = 256

    private(set) var watchers = 0
    private var cursor: DueCursor?
    private(set) var since = Timestamp(milliseconds: 0)

    var isWatched: Bool { watchers > 0 }

    /// Tokens that expired before the first subscriber came are not reported.
    mutating func watch(from now: Timestamp) {
        if watchers == 0 { restart(at: now) }
        watchers += 1
    }

    mutating func unwatch() { watchers -= 1 }

    private mutating func restart(at now: Timestamp) {
        since = now
        cursor = DueCursor(dueAt: now.advanced(by: .zero - Self.longestLead), row: .min)
    }

    /// Where to continue reading.
    mutating func position(at now: Timestamp) -> DueCursor? {
        // After the clock was set back, the logins in between are due again.
        if let cursor, cursor.dueAt > now.advanced(by: Self.span * 2) { restart(at: now) }
        return cursor
    }

    /// - Parameter last: The last login that was read; nil: there was none.
    mutating func advance(to last: DueCursor?) {
        if let last { cursor = last }
    }
}
