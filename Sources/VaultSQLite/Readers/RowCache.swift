import Platform
import Synchronization
import VaultCrypto
import VaultStorage

/// The rows of logins that were read last, sealed as they are in the vault, for as long as they are the newest.
///
/// The WAL index says without a system call whether there has been a commit. If so, the trail says whose rows it may have
/// changed: a change of a user, or of one of their logins, has a row there, or the user would not be accepted later. The
/// rows of those users go at once, and with them what is open of their cells. A commit that the trail does not know
/// empties the cache. See ADR 0149.
final class RowCache: Sendable {
    struct Key: Equatable {
        let query: Int
        let value: Bytes16
        let second: Bytes16?

        init(_ query: Int, _ value: Bytes16, _ second: Bytes16?) {
            self.query = query
            self.value = value
            self.second = second
        }

        /// Different for each, which a part of a random number or of a keyed hash is.
        var bits: UInt64 { value.words.1 &+ (second?.words.1 ?? 0) &+ UInt64(truncatingIfNeeded: query) }
    }

    private struct Entry {
        let key: Key
        let rows: Rows
    }

    private enum Rows {
        case of(user: Bytes16, CachedRows)
        case tooMany

        var user: Bytes16? { if case .of(let user, _) = self { user } else { nil } }
    }

    private struct State {
        /// Whether the trail has been read.
        var hasBegun = false
        /// The newest commit that the cache knows, of which all entries are, and the end of the trail at that commit.
        var header = WALIndex.Header()
        var head: Int64 = 0
        let groups: Int
        /// Groups of ``ways`` each; none until something is kept. A key, which is a random number or a keyed hash, has a
        /// place in one group; what is used moves towards its beginning, and what is new takes its end.
        private(set) var entries: [Entry?] = []
        /// The beginnings of the groups that have entries of a user.
        private var groupsOfUser: [Bytes16: [Int]] = [:]
        /// What was asked for lately and was not here, by a part of its key: only what is asked for twice is worth keeping.
        private var askedFor: [UInt32] = []
        /// Whether a reader is reading the trail.
        var isReading = false
        var isClosed = false
        /// How often something else than users and logins may have changed.
        var settings: Int64 = 0
        /// Reads that the database was not asked for, in all, and when the trail was read last.
        var served = 0
        var servedBefore = 0
        /// How often in a row the trail was read for nearly nothing, since commits come faster than reads, and how many reads
        /// go by before it is read again. A process that reads once never reads it.
        var wasted = 0
        var pause = 1

        init(capacity: Int) {
            groups = max(1, capacity / RowCache.ways)
        }

        func group(of key: Key) -> Int {
            Int(truncatingIfNeeded: key.value.words.0 % UInt64(truncatingIfNeeded: groups)) * RowCache.ways
        }

        func place(of key: Key) -> Int? {
            guard !entries.isEmpty else { return nil }
            let first = group(of: key)
            for place in first..<first + RowCache.ways where entries[place]?.key == key { return place }
            return nil
        }

        /// Whether it has been asked for before, as far as is remembered.
        mutating func isAskedForAgain(_ key: Key) -> Bool {
            if askedFor.isEmpty { askedFor = [UInt32](repeating: 0, count: 2 * groups * RowCache.ways) }
            let bits = key.bits
            let place = Int(truncatingIfNeeded: bits % UInt64(truncatingIfNeeded: askedFor.count))
            let mark = UInt32(truncatingIfNeeded: bits >> 32) | 1
            if askedFor[place] == mark { return true }
            askedFor[place] = mark
            return false
        }

        mutating func put(_ entry: Entry) {
            if entries.isEmpty { entries = [Entry?](repeating: nil, count: groups * RowCache.ways) }
            let first = group(of: entry.key)
            let group = first..<first + RowCache.ways
            let place =
                group.first { entries[$0]?.key == entry.key } ?? group.first { entries[$0] == nil } ?? first
                + RowCache.ways - 1
            let former = entries[place]?.rows.user
            entries[place] = entry
            if let former, !group.contains(where: { entries[$0]?.rows.user == former }) {
                groupsOfUser[former]?.removeAll { $0 == first }
                if groupsOfUser[former]?.isEmpty ?? false { groupsOfUser[former] = nil }
            }
            if let user = entry.rows.user, !(groupsOfUser[user]?.contains(first) ?? false) {
                groupsOfUser[user, default: []].append(first)
            }
        }

        /// Moves an entry towards the beginning of its group.
        mutating func advance(_ place: Int) { entries.swapAt(place, place - 1) }

        mutating func remove(_ user: Bytes16) {
            for first in groupsOfUser.removeValue(forKey: user) ?? [] {
                for place in first..<first + RowCache.ways where entries[place]?.rows.user == user {
                    entries[place] = nil
                }
            }
        }

        mutating func removeAll() {
            settings += 1
            for place in entries.indices { entries[place] = nil }
            groupsOfUser = [:]
        }
    }

    private static let ways = 8
    /// Rows of the trail that are read at most; after more commits the cache is emptied.
    private static let mostChanges = 256
    /// Nanoseconds between two looks at the names of the vault's files.
    private static let lookInterval: Int64 = 5_000_000
    /// The longest pause is of 256 reads.
    private static let mostWasted = 11

    private let place: VaultFileIdentity
    private let lastLook = Atomic<Int64>(0)
    private let state: Mutex<State>

    /// - Parameter capacity: How many results it holds; nil is returned for 0.
    init?(capacity: Int, _ place: VaultFileIdentity) {
        guard capacity > 0 else { return nil }
        self.place = place
        state = Mutex(State(capacity: min(capacity, 1 << 20)))
    }

    /// The newest rows of a query; nil if the caller must ask the database.
    ///
    /// - Parameter read: Reads all rows on this connection; nil if there are too many.
    func rows(
        _ key: Key, _ reading: CachedReading, _ read: () throws(StoreError) -> CachedRows?
    ) throws(StoreError) -> CachedRows? {
        guard let index = usableIndex(reading) else { return nil }
        switch look(key, index) {
        case .found(let rows):
            reading.hasServed = true
            return rows
        case .tooMany, .unknown, .notNow: return nil
        case .changed:
            guard try readTrail(reading.connection, index) else { return nil }
            switch look(key, index) {
            case .found(let rows):
                reading.hasServed = true
                return rows
            case .missing: break
            default: return nil
            }
        case .missing: break
        }
        // Between two equal headers there was no commit, so the rows are those of this one.
        let before = index.header
        let rows = try read()
        guard let before, index.header == before else { return rows }
        keep(rows, key, before)
        return rows
    }

    /// A number that differs after each commit that may have changed something else than users and logins; nil if the
    /// caller must ask the database.
    func markOfSettings(_ reading: CachedReading) throws(StoreError) -> Int64? {
        guard let index = usableIndex(reading) else { return nil }
        var (mark, mayRead) = lookAtSettings(index)
        if mayRead, try readTrail(reading.connection, index) { (mark, mayRead) = lookAtSettings(index) }
        return mark
    }

    private func lookAtSettings(_ index: WALIndex) -> (mark: Int64?, mayReadTrail: Bool) {
        state.withLock { state in
            if state.hasBegun, index.isStill(&state.header) {
                state.served += 1
                return (state.settings, false)
            }
            if case .changed = Self.wait(&state) { return (nil, true) }
            return (nil, false)
        }
    }

    /// Nil if the index says nothing about what this connection reads. What an older snapshot shows is not the newest any
    /// more, and a snapshot shows one moment alone.
    @inline(__always)
    private func usableIndex(_ reading: CachedReading) -> WALIndex? {
        guard !reading.isOff, reading.connection.hasNoSnapshot, isInPlace else { return nil }
        return reading.index
    }

    // MARK: Entries

    private enum Look {
        case found(CachedRows)
        case tooMany
        /// Not asked for before.
        case unknown
        case missing
        /// There are later commits.
        case changed
        case notNow
    }

    @inline(__always)
    private func look(_ key: Key, _ index: WALIndex) -> Look {
        state.withLock { state in
            guard state.hasBegun, index.isStill(&state.header) else { return Self.wait(&state) }
            guard let place = state.place(of: key), let entry = state.entries[place] else {
                return state.isAskedForAgain(key) ? .missing : .unknown
            }
            if place % Self.ways > 0 { state.advance(place) }
            state.served += 1
            if case .of(_, let rows) = entry.rows { return .found(rows) }
            return .tooMany
        }
    }

    private static func wait(_ state: inout State) -> Look {
        guard state.pause == 0 else {
            state.pause -= 1
            return .notNow
        }
        return state.isReading ? .notNow : .changed
    }

    private func keep(_ rows: CachedRows?, _ key: Key, _ header: WALIndex.Header) {
        // No user is not stored: who asks is then told from the database, and so is who has no login.
        var kept = Rows.tooMany
        if let rows {
            guard rows.count > 0, !rows.isNull(0, 7), let user = unsafe Bytes16(rows.blob(0, 1)) else { return }
            kept = .of(user: user, rows)
        }
        state.withLock { state in
            guard state.hasBegun, !state.isClosed, state.header == header else { return }
            state.put(Entry(key: key, rows: kept))
        }
    }

    // MARK: The trail

    /// Drops what has changed since. False: there are still later commits.
    private func readTrail(_ connection: Connection, _ index: WALIndex) throws(StoreError) -> Bool {
        let since = state.withLock { state -> Int64? in
            guard !state.isReading else { return nil }
            state.isReading = true
            return state.hasBegun ? state.head : .max
        }
        guard let since else { return false }
        defer { state.withLock { $0.isReading = false } }
        guard let before = index.header else { return false }
        let found = try Changes(connection, since: since, atMost: Self.mostChanges)
        guard index.header == before else { return false }
        state.withLock { state in
            if let users = found.users {
                for user in users { state.remove(user) }
            } else {
                state.removeAll()
            }
            state.hasBegun = true
            state.header = before
            state.head = found.head
            // Each look at the trail costs as much as a read: it must pay.
            state.wasted = state.served - state.servedBefore < 2 ? min(state.wasted + 1, Self.mostWasted) : 0
            state.pause = state.wasted < 3 ? 0 : 1 << (state.wasted - 3)
            state.servedBefore = state.served
        }
        return true
    }

    private struct Changes {
        /// nil: something else may have changed, too.
        var users: Set<Bytes16>? = []
        var head: Int64

        init(_ connection: Connection, since: Int64, atMost most: Int) throws(StoreError) {
            head = since
            var count = 0
            if since < .max {
                let row = try connection.statement(
                    "SELECT sequence, user FROM audit WHERE sequence > ?1 ORDER BY sequence LIMIT ?2")
                row.bind(1, since)
                row.bind(2, Int64(most) + 1)
                defer { row.reset() }
                while try row.step() {
                    count += 1
                    head = row.integer(0)
                    if let user = row.bytes16(1) { users?.insert(user) } else { users = nil }
                }
            }
            // A commit without a row is one that no program of ours has made, or a step that changes no login.
            guard count == 0 || count > most else { return }
            users = nil
            let last = try connection.statement("SELECT coalesce(max(sequence), 0) FROM audit")
            defer { last.reset() }
            head = try last.step() ? last.integer(0) : 0
        }
    }

    /// How many reads it has answered.
    var servedCount: Int { state.withLock { $0.served } }

    /// How many results it holds.
    var count: Int { state.withLock { $0.entries.count { $0 != nil } } }

    /// How many of them have their user's cell open.
    var openUserCellCount: Int {
        state.withLock { state in
            state.entries.count { entry in
                if case .of(_, let rows) = entry?.rows { rows.openUserCell != nil } else { false }
            }
        }
    }

    /// Begins anew: what was in it did not prove right.
    func removeAll() { state.withLock { $0.removeAll() } }

    /// Wipes what is open, and keeps nothing from now on.
    func close() {
        state.withLock { state in
            state.isClosed = true
            state.removeAll()
        }
    }

    // MARK: The files

    /// Whether the names still lead to the files that this process has open, as of a few milliseconds ago: who opens them
    /// under these names would otherwise write a log that this process does not see.
    private var isInPlace: Bool {
        let now = BootClock.coarseNanoseconds
        if let now, now - lastLook.load(ordering: .relaxed) <= Self.lookInterval { return true }
        do throws(StoreError) { try place.checkNames() } catch {
            removeAll()
            return false
        }
        if let now { lastLook.store(now, ordering: .relaxed) }
        return true
    }
}
