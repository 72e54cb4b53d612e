import HeapModule
import VaultStorage

/// The watched logins, and when each has an event due. A value; it does no I/O.
///
/// Each call costs what it reports, however many logins there are.
struct WatchedLogins: Sendable {
    let options: SessionEventOptions
    private var logins: [LoginHandle: WatchedLogin] = [:]
    private var loginsOfUser: [UserHandle: Set<LoginHandle>] = [:]
    /// How many subscribers name a login, or a user.
    private var namedLogins: [LoginHandle: Int] = [:]
    private var namedUsers: [UserHandle: Int] = [:]
    /// Logins that no subscriber names: they are kept while an event is due soon, for subscribers to all logins.
    private(set) var unnamed: Set<LoginHandle> = []
    /// Unnamed logins for which there was no room.
    private var turnedAway = 0
    /// The time of each login's next event. An entry that disagrees with ``scheduled`` is void.
    private var due = Heap<Due>()
    private var scheduled: [LoginHandle: Timestamp] = [:]
    private var lastLook = Timestamp(milliseconds: 0)
    /// For tests: how many logins, and entries of the heap, have been visited.
    private(set) var work = 0
    var dueEntries: Int { due.count }

    private struct Due: Comparable, Sendable {
        let at: Timestamp
        let login: LoginHandle

        static func < (left: Due, right: Due) -> Bool { left.at < right.at }
    }

    init(options: SessionEventOptions) {
        self.options = options
    }

    subscript(login: LoginHandle) -> WatchedLogin? { logins[login] }

    var count: Int { logins.count }
    var handles: some Sequence<LoginHandle> { logins.keys }

    /// When there may be something to report.
    var nextDue: Timestamp? { due.min?.at }

    /// Whether there is room for one more unnamed login.
    var hasRoom: Bool { unnamed.count < options.mostUnnamedLogins }

    /// How many logins had no room since the last call.
    mutating func takeTurnedAway() -> Int {
        defer { turnedAway = 0 }
        return turnedAway
    }

    func contains(_ row: SessionRow) -> Bool {
        isNamed(row.login, row.user) || logins[row.login] != nil
    }

    func states(ofUser user: UserHandle) -> [SessionState] {
        (loginsOfUser[user] ?? []).compactMap { logins[$0]?.state }
    }
}

// MARK: Watching

extension WatchedLogins {
    /// A login that is already known stays as it is: it is at the row that was read last, and its subscribers wait for
    /// the next.
    mutating func watch(_ login: WatchedLogin) {
        guard logins[login.login] == nil else { return }
        keep(login)
    }

    mutating func name(_ login: LoginHandle) {
        namedLogins[login, default: 0] += 1
        unnamed.remove(login)
    }

    mutating func name(_ user: UserHandle) {
        namedUsers[user, default: 0] += 1
        unnamed.subtract(loginsOfUser[user] ?? [])
    }

    /// - Parameter isAllWatched: Whether all logins are watched: then this one's events that are due soon must still be
    ///   reported.
    mutating func unname(_ login: LoginHandle, isAllWatched: Bool) {
        guard Self.decrease(&namedLogins, login), let known = logins[login], namedUsers[known.user] == nil else {
            return
        }
        release(login, isAllWatched)
    }

    mutating func unname(_ user: UserHandle, isAllWatched: Bool) {
        guard Self.decrease(&namedUsers, user) else { return }
        for login in loginsOfUser[user] ?? [] where namedLogins[login] == nil { release(login, isAllWatched) }
    }

    /// No subscriber watches all logins any longer.
    mutating func dropUnnamed() {
        for login in unnamed { drop(login) }
    }

    private mutating func release(_ login: LoginHandle, _ isAllWatched: Bool) {
        if isAllWatched, scheduled[login] != nil, hasRoom { unnamed.insert(login) } else { drop(login) }
    }

    private func isNamed(_ login: LoginHandle, _ user: UserHandle) -> Bool {
        namedLogins[login] != nil || namedUsers[user] != nil
    }

    private static func decrease<Key: Hashable>(_ counts: inout [Key: Int], _ key: Key) -> Bool {
        guard let count = counts[key] else { return false }
        counts[key] = count > 1 ? count - 1 : nil
        return count == 1
    }
}

// MARK: Reporting

extension WatchedLogins {
    /// Returns the events of a row, after those that had come due before it.
    ///
    /// A login that no subscriber names is kept while an event is due for it before `horizon`.
    mutating func take(
        _ row: SessionRow, userId: String, _ refreshEnd: RefreshEnd?, horizon: Timestamp?
    ) -> [FeedEvent] {
        var events = takeDue(row.time)
        work += 1
        var login = logins[row.login] ?? WatchedLogin(before: row, userId: userId, refreshEnd)
        events += login.take(row, refreshEnd, options).map { FeedEvent($0, of: login, row.sequence) }
        guard !row.isLast else {
            drop(row.login)
            return events
        }
        let isSoon = horizon.map { login.isDue(before: $0, options) } ?? false
        if isNamed(row.login, row.user) || isSoon && (hasRoom || unnamed.contains(row.login)) {
            keep(login)
        } else {
            if isSoon { turnedAway += 1 }
            drop(row.login)
        }
        return events
    }

    /// Returns the events that have come due.
    mutating func reportDue(_ now: Timestamp) -> [FeedEvent] {
        defer { lastLook = now }
        return now.milliseconds < lastLook.milliseconds - 1_000 ? reportAll(now) : takeDue(now)
    }

    /// Visits only logins with an event due.
    private mutating func takeDue(_ now: Timestamp) -> [FeedEvent] {
        guard let first = nextDue, first <= now else { return [] }
        var events: [FeedEvent] = []
        while let first = due.min, first.at <= now {
            due.removeMin()
            work += 1
            guard scheduled[first.login] == first.at else { continue }
            scheduled[first.login] = nil
            guard var login = logins[first.login] else { continue }
            events += login.reportDue(now, options).map { FeedEvent($0, of: login, nil) }
            keepIfNeeded(login, now)
        }
        return events.inOrder
    }

    /// The clock was set back: expired tokens may be valid again.
    private mutating func reportAll(_ now: Timestamp) -> [FeedEvent] {
        var events: [FeedEvent] = []
        for var login in logins.values {
            work += 1
            let reported = login.reportDue(now, options) + login.revive(now)
            events += reported.map { FeedEvent($0, of: login, nil) }
            keepIfNeeded(login, now)
        }
        return events.inOrder
    }

    /// Replaces a login with the one that was read again, because rows are missing; nil: it is gone.
    mutating func replace(_ handle: LoginHandle, with read: WatchedLogin?, now: Timestamp) -> [FeedEvent] {
        guard var old = logins[handle] else { return [] }
        guard var login = read else {
            drop(handle)
            return old.end(now).map { FeedEvent($0, of: old, nil) }
        }
        let events = login.replace(old, now, options)
        keep(login)
        return events.map { FeedEvent($0, of: login, nil) }
    }
}

// MARK: Keeping

extension WatchedLogins {
    /// Logins that wait for the end of a refresh token, weeks ahead, leave half of the room to those that expire soon.
    private mutating func keepIfNeeded(_ login: WatchedLogin, _ now: Timestamp) {
        guard !isNamed(login.login, login.user) else { return keep(login) }
        guard let next = login.nextDue(options) else { return drop(login.login) }
        let isSoon = next <= now.advanced(by: FeedWindow.span)
        if isSoon || unnamed.count <= options.mostUnnamedLogins / 2 {
            keep(login)
        } else {
            turnedAway += 1
            drop(login.login)
        }
    }

    private mutating func drop(_ handle: LoginHandle) {
        guard let login = logins.removeValue(forKey: handle) else { return }
        scheduled[handle] = nil
        unnamed.remove(handle)
        loginsOfUser[login.user]?.remove(handle)
        if loginsOfUser[login.user]?.isEmpty == true { loginsOfUser[login.user] = nil }
    }

    private mutating func keep(_ login: WatchedLogin) {
        if logins.updateValue(login, forKey: login.login) == nil {
            loginsOfUser[login.user, default: []].insert(login.login)
            if !isNamed(login.login, login.user) { unnamed.insert(login.login) }
        }
        let next = login.nextDue(options)
        guard next != scheduled[login.login] else { return }
        scheduled[login.login] = next
        if let next { due.insert(Due(at: next, login: login.login)) }
        // Void entries normally disappear with time; a stopped clock must not let them pile up.
        if due.count > 2 * scheduled.count + 64 { due = Heap(scheduled.map { Due(at: $1, login: $0) }) }
    }
}

extension FeedEvent {
    fileprivate init(_ event: SessionEvent, of login: WatchedLogin, _ sequence: Int64?) {
        self.init(event: event, login: login.login, user: login.user, userId: login.userId, sequence: sequence)
    }
}

extension [FeedEvent] {
    /// Subscribers to several logins get events in the order in which they happened.
    fileprivate var inOrder: [FeedEvent] { sorted { $0.event.date < $1.event.date } }
}
