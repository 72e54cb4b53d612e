import HeapModule
import VaultStorage

/// What the feed knows: the logins that are watched, and what is to be told of them. A value; it does no I/O.
struct SessionBook {
    let options: SessionEventOptions
    private(set) var pages: [LoginHandle: SessionPage] = [:]
    private var loginsOfUser: [UserHandle: Set<LoginHandle>] = [:]
    private var watchedLogins: [LoginHandle: Int] = [:]
    private var watchedUsers: [UserHandle: Int] = [:]
    /// Logins of pages that no subscriber watches by name.
    private(set) var unnamed: Set<LoginHandle> = []
    /// Logins for whose pages there was no room.
    private var turnedAway = 0
    /// When which login has an event due. An entry that does not agree with ``scheduled`` is void.
    private var due = Heap<Due>()
    private var scheduled: [LoginHandle: Timestamp] = [:]
    private var lastTold = Timestamp(milliseconds: 0)

    /// Something told, and of whom. `sequence` is that of the row that it is from.
    struct Telling: Sendable {
        let event: SessionEvent
        let login: LoginHandle
        let user: UserHandle
        let userID: String
        let sequence: Int64?
    }

    private struct Due: Comparable {
        let at: Timestamp
        let login: LoginHandle

        static func < (left: Due, right: Due) -> Bool { left.at < right.at }
    }

    init(options: SessionEventOptions) {
        self.options = options
    }

    /// When there may be something to tell.
    var nextDue: Timestamp? { due.min?.at }

    /// Whether one more login may have a page that no subscriber watches by name.
    var hasRoom: Bool { unnamed.count < options.mostUnnamedPages }

    /// How many logins had no room since the last call.
    mutating func takeTurnedAway() -> Int {
        defer { turnedAway = 0 }
        return turnedAway
    }

    // MARK: Who is watched

    /// A page that is there already stays: it is at the row that was read last, and its subscribers wait for the next.
    mutating func watch(_ page: SessionPage, now: Timestamp) {
        guard pages[page.login] == nil else { return }
        keep(page, now)
    }

    mutating func watch(login: LoginHandle) {
        watchedLogins[login, default: 0] += 1
        unnamed.remove(login)
    }

    mutating func watch(user: UserHandle) {
        watchedUsers[user, default: 0] += 1
        unnamed.subtract(loginsOfUser[user] ?? [])
    }

    /// - Parameter isAllWatched: All logins are being watched: what is due soon for this one must still be reported.
    mutating func unwatch(login: LoginHandle, isAllWatched: Bool) {
        if Self.decrease(&watchedLogins, login), let page = pages[login], watchedUsers[page.user] == nil {
            release(login, isAllWatched)
        }
    }

    mutating func unwatch(user: UserHandle, isAllWatched: Bool) {
        guard Self.decrease(&watchedUsers, user) else { return }
        for login in loginsOfUser[user] ?? [] where watchedLogins[login] == nil { release(login, isAllWatched) }
    }

    /// No subscriber watches all logins any longer.
    mutating func unwatchAll() {
        for login in unnamed { drop(login) }
    }

    private mutating func release(_ login: LoginHandle, _ isAllWatched: Bool) {
        if isAllWatched, scheduled[login] != nil, hasRoom { unnamed.insert(login) } else { drop(login) }
    }

    func isWatched(_ row: SessionRow) -> Bool {
        watchedLogins[row.login] != nil || watchedUsers[row.user] != nil || pages[row.login] != nil
    }

    private func isWatched(_ page: SessionPage) -> Bool {
        watchedLogins[page.login] != nil || watchedUsers[page.user] != nil
    }

    private static func decrease<Key: Hashable>(_ counts: inout [Key: Int], _ key: Key) -> Bool {
        guard let count = counts[key] else { return false }
        counts[key] = count > 1 ? count - 1 : nil
        return count == 1
    }

    func states(ofUser user: UserHandle) -> [SessionState] {
        (loginsOfUser[user] ?? []).compactMap { pages[$0]?.state }
    }

    // MARK: What happens

    /// What a row tells. `read` is the login as it is now, where that was needed.
    ///
    /// Of a login that is not watched by name, the page is kept for as long as its token runs out before `horizon`.
    mutating func take(
        _ row: SessionRow, reading read: SessionPage?, now: Timestamp, horizon: Timestamp?
    ) -> [Telling] {
        // What came due before the row was written comes before it.
        var tellings = nextDue.map { $0 <= row.time } ?? false ? scan(row.time, isSetBack: false) : []
        guard var page = pages[row.login]?.with(refreshOf: read) ?? read else { return tellings }
        let events = page.take(row, options)
        tellings += events.map { Telling($0, of: page, row.sequence) }
        var isOver = false
        if case .removed = row.fact { isOver = true }
        let isSoon = !isOver && page.isDue(before: horizon, now, options)
        if !isOver, isWatched(page) || isSoon && (hasRoom || unnamed.contains(row.login)) {
            keep(page, now)
        } else {
            if isSoon { turnedAway += 1 }
            drop(row.login)
        }
        return tellings
    }

    /// What has come due.
    mutating func tellDue(_ now: Timestamp) -> [Telling] {
        let isSetBack = now.milliseconds < lastTold.milliseconds - 1_000
        guard isSetBack || nextDue.map({ $0 <= now }) ?? false else { return [] }
        lastTold = now
        return scan(now, isSetBack: isSetBack)
    }

    private mutating func scan(_ now: Timestamp, isSetBack: Bool) -> [Telling] {
        var tellings: [Telling] = []
        for login in isSetBack ? Array(pages.keys) : takeDue(now) {
            guard var page = pages[login] else { continue }
            tellings += page.tellDue(now, options).map { Telling($0, of: page, nil) }
            if isSetBack { tellings += page.revive(now).map { Telling($0, of: page, nil) } }
            if isWatched(page) || page.nextDue(now, options) != nil {
                keep(page, now)
            } else {
                drop(login)
            }
        }
        // Whoever is told of several logins is told in the order in which it happened.
        return tellings.sorted { $0.event.date < $1.event.date }
    }

    /// A page that was read anew, because rows are missing. Tells how the state has changed.
    mutating func replace(_ page: SessionPage, now: Timestamp) -> [Telling] {
        guard let old = pages[page.login] else { return [] }
        var page = page
        if page.tokenGeneration == old.tokenGeneration { page.told = old.told }
        page.hasWarnedOfRefresh = old.hasWarnedOfRefresh
        var events: [SessionEvent] = []
        if page.state != old.state { events.append(page.event(.stateChanged(page.state), at: now)) }
        events += page.tellDue(now, options)
        keep(page, now)
        return events.map { Telling($0, of: page, nil) }
    }

    /// A login that is gone, although no row said so.
    mutating func remove(_ login: LoginHandle, now: Timestamp) -> [Telling] {
        guard var page = pages[login] else { return [] }
        drop(login)
        var events: [SessionEvent] = []
        page.change(.removed, at: now, &events)
        return events.map { Telling($0, of: page, nil) }
    }

    /// Costs what is due, however many pages there are.
    private mutating func takeDue(_ now: Timestamp) -> [LoginHandle] {
        var logins: [LoginHandle] = []
        while let first = due.min, first.at <= now {
            due.removeMin()
            guard scheduled[first.login] == first.at else { continue }
            scheduled[first.login] = nil
            logins.append(first.login)
        }
        return logins
    }

    private mutating func drop(_ login: LoginHandle) {
        guard let page = pages.removeValue(forKey: login) else { return }
        scheduled[login] = nil
        unnamed.remove(login)
        loginsOfUser[page.user]?.remove(login)
        if loginsOfUser[page.user]?.isEmpty == true { loginsOfUser[page.user] = nil }
    }

    private mutating func keep(_ page: SessionPage, _ now: Timestamp) {
        if pages.updateValue(page, forKey: page.login) == nil {
            loginsOfUser[page.user, default: []].insert(page.login)
            if !isWatched(page) { unnamed.insert(page.login) }
        }
        lastTold = max(lastTold, now)
        let next = page.nextDue(now, options)
        guard next != scheduled[page.login] else { return }
        scheduled[page.login] = next
        if let next { due.insert(Due(at: next, login: page.login)) }
        // Void entries come and go with their time; a clock that stands still must not let them grow.
        if due.count > 2 * scheduled.count + 64 { due = Heap(scheduled.map { Due(at: $1, login: $0) }) }
    }
}

extension SessionBook.Telling {
    fileprivate init(_ event: SessionEvent, of page: SessionPage, _ sequence: Int64?) {
        self.init(event: event, login: page.login, user: page.user, userID: page.userID, sequence: sequence)
    }
}

extension SessionPage {
    fileprivate func isDue(before horizon: Timestamp?, _ now: Timestamp, _ options: SessionEventOptions) -> Bool {
        guard let horizon else { return false }
        // A warning that comes due before the next renewal is this token's to give.
        if !hasWarnedOfRefresh, let refreshWarnsAt, refreshWarnsAt <= max(horizon, expiresAt ?? horizon) { return true }
        var page = self
        page.hasWarnedOfRefresh = true
        return page.nextDue(now, options).map { $0 <= horizon } ?? false
    }

    /// What a renewal has changed of the refresh token.
    func with(refreshOf read: SessionPage?) -> SessionPage {
        guard let read, read.refreshEndsAt != refreshEndsAt else { return self }
        var page = self
        if let warnsAt = read.refreshWarnsAt, let old = refreshWarnsAt, warnsAt > old {
            page.hasWarnedOfRefresh = false
        }
        page.refreshEndsAt = read.refreshEndsAt
        page.refreshWarnsAt = read.refreshWarnsAt
        return page
    }
}
