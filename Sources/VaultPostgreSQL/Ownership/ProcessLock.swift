import Platform
import Synchronization
import VaultCrypto
import VaultStorage

/// Shows other machines that this process lives, and shows this process whether they can see it.
///
/// A separate thread holds the lock on its own connection, and proves once a second that the server still answers. When
/// the connection is lost, it takes the same lock on a new one.
final class ProcessLock: Sendable {
    private static let heartbeat: Int32 = 1_000
    private static let beatsToMemory = 10
    /// How long an ending process waits for others to learn of its last commits: while the server answers, and for a
    /// server that replaces it.
    private static let longestFarewell = (Duration.seconds(2), Duration.seconds(15))

    let owner: Int64
    private let address: ServerAddress
    private let watch: TimelineTracker
    private let uptime: @Sendable () -> Duration

    private struct State {
        var lastProof: Duration?
        var isConnected = true
        /// Whether others must check at once.
        var mustReport = false
        var isEnding = false
        var hasEnded = false
        /// Whether this process left nothing in the vault.
        var hasLeft = false
    }

    private let state = Mutex(State())
    private let bell: Doorbell
    private let ended = ThreadSignal()

    /// Takes the lock, or throws.
    init(
        _ address: ServerAddress, _ watch: TimelineTracker,
        uptime: @escaping @Sendable () -> Duration = ProcessLock.uptime
    ) throws(StoreError) {
        self.address = address
        self.watch = watch
        self.uptime = uptime
        owner = SecureRandom.bytes(8).reduce(Int64(0)) { $0 << 8 | Int64($1) } & (1 << 62 - 1) | 1
        guard let bell = Doorbell() else { throw StoreError(.outOfMemory, "the system has no file descriptors left") }
        self.bell = bell
        let start = uptime()
        let connection = try Self.connect(address, owner, isFirst: true, lost: nil)
        let session = try ServerSession(of: connection)
        state.withLock { $0.lastProof = start }
        let isStarted = OwnThread.start { self.run(connection, session) }
        guard isStarted else { throw StoreError(.outOfMemory, "the system has no thread left for the vault's lock") }
    }

    /// A clock that keeps running while the machine sleeps.
    static let uptime: @Sendable () -> Duration = {
        BootClock.now
    }

    /// Whether others are sure to see this process.
    var isHeld: Bool {
        if ForkGuard.isForked { return false }
        let now = uptime()
        return state.withLock { state in
            guard !state.hasEnded, let proof = state.lastProof else { return false }
            return OwnershipRules.isSeen(lastProof: now - proof)
        }
    }

    /// Releases the lock. Work that this process has begun and not ended stays its own for as long as it may take.
    ///
    /// - Returns: whether there was no such work.
    @discardableResult
    func release() -> Bool {
        if ForkGuard.isForked { return false }
        let isFirst = state.withLock { state in
            defer { state.isEnding = true }
            return !state.isEnding
        }
        if isFirst { bell.ring() }
        ended.wait()
        // For the next waiter.
        ended.send()
        return state.withLock { $0.hasLeft }
    }

    /// Waits until another process, if there is one, knows of all of this one's commits: after a failover that has lost
    /// them, a process must be there that misses them. Meanwhile this one still takes part.
    func sayFarewell() {
        if ForkGuard.isForked { return }
        let start = SuspendingClock.now
        if watch.isAhead { state.withLock { $0.mustReport = true } }
        while watch.isAhead {
            let (isConnected, hasEnded) = state.withLock { ($0.isConnected, $0.isEnding) }
            let longest = isConnected ? Self.longestFarewell.0 : Self.longestFarewell.1
            guard !hasEnded, start.duration(to: .now) < longest else { return }
            bell.ring()
            CurrentThread.pause(microseconds: 10_000)
        }
    }

    // MARK: The thread

    private func run(_ first: ServerConnection, _ firstSession: ServerSession) {
        var connection: ServerConnection? = first
        // The session that held the lock last. The server may not have noticed its end.
        var session = firstSession
        var beats = 0
        // Processes that have left: the next proof covers their commits.
        var left: [Int64] = []
        while !state.withLock({ $0.isEnding }) {
            bell.sleep(left.isEmpty ? Self.heartbeat : 0, listeningTo: connection)
            let start = uptime()
            do throws(StoreError) {
                if let connection {
                    try beat(connection, &left)
                } else {
                    let made = try Self.connect(
                        address, owner, isFirst: false, lost: session, hasChanged: hasChanged)
                    try watch.refuseFormer(made.history)
                    session = try ServerSession(of: made)
                    connection = made
                    // If another server has taken over, this process starts to settle that.
                    try? watch.require(made.history)
                }
                state.withLock { ($0.lastProof, $0.isConnected) = (start, true) }
                beats += 1
                if beats % Self.beatsToMemory == 0 { watch.remember() }
            } catch {
                (connection, left) = (nil, [])
                state.withLock { $0.isConnected = false }
            }
        }
        let hasLeft = leave(connection)
        state.withLock { state in
            state.hasEnded = true
            state.hasLeft = hasLeft
        }
        ended.send()
    }

    private func beat(_ connection: ServerConnection, _ left: inout [Int64]) throws(StoreError) {
        let known = watch.knownChanges ?? 0
        left += Self.owners(connection.takeNotifications())
        let mustReport = state.withLock { state in
            defer { state.mustReport = false }
            return state.mustReport
        }
        if mustReport { try connection.send(Self.tell) }
        let command = try connection.send(Self.beat, Parameters([.integer(owner)]))
        try connection.sync(OwnershipRules.longestSilence)
        let answer = try connection.answer(to: command)
        guard answer.rowCount == 1 else {
            // Without its row, this process counts as one that has left cleanly.
            return try Self.arrive(connection, owner, hasChanged: hasChanged)
        }
        watch.note(
            answer.integer(0, 0), in: connection.history, since: known,
            heardOf: answer.isNull(0, 1) ? nil : answer.integer(0, 1))
        watch.noteLeft(left, in: connection.history)
        // These arrived during this proof, so they may refer to changes that it has not seen.
        left = Self.owners(connection.takeNotifications())
    }

    /// A leaving process sends its name. One that only wants others to learn of its commits sends none.
    private static func owners(_ payloads: [String]) -> [Int64] { payloads.compactMap { Int64($0) } }

    /// Deletes this process's row, unless work is still in progress, or others wait for what this process knows from
    /// before a failover.
    private func leave(_ connection: ServerConnection?) -> Bool {
        guard let connection else { return false }
        defer { connection.close() }
        do throws(StoreError) {
            let command = try connection.send(
                Self.depart, Parameters([.integer(owner), .integer(connection.history?.timeline ?? 0)]))
            try connection.sync(OwnershipRules.longestSilence)
            return try connection.answer(to: command).integer(0, 0) == 1
        } catch {
            // The row stays, and others wait as long as after a crash.
            return false
        }
    }

    private static func connect(
        _ address: ServerAddress, _ owner: Int64, isFirst: Bool, lost: ServerSession?, hasChanged: Bool = false
    ) throws(StoreError) -> ServerConnection {
        let connection = try ServerConnection(address)
        try SessionSettings.apply(to: connection, address)
        // No process waits for the proof of life to reach the disk.
        try connection.send(asynchronously)
        let command = try connection.send(AdvisoryLock.take, Parameters([.integer(owner)]))
        guard try connection.answer(to: command).integer(0, 0) == 1 else {
            // The lock's number is this process's own, so only its lost connection can hold it: behind a proxy,
            // permanently.
            try lost?.end(by: connection)
            throw .unreachable
        }
        if isFirst { try connection.send(forget) }
        try connection.send(listen)
        try arrive(connection, owner, hasChanged: hasChanged)
        return connection
    }

    /// Whether this process has committed anything.
    private var hasChanged: Bool { watch.head != nil }

    private static func arrive(
        _ connection: ServerConnection, _ owner: Int64, hasChanged: Bool
    ) throws(StoreError) {
        try connection.send(
            arrive,
            Parameters([
                .integer(owner), .text(Machine.hostName ?? ""), .integer(Int64(ProcessID.current.number)),
                .integer(connection.history?.timeline ?? 0), .integer(hasChanged ? 1 : 0),
            ]))
        try connection.sync()
    }

    private static let asynchronously = Statement("SET synchronous_commit = off")
    private static let beat = Statement(
        """
        UPDATE "process" SET "lastSeenAt" = clock_timestamp(),
            "seenChanges" = (SELECT "changeCount" FROM "engineState")
        WHERE "owner" = $1
        RETURNING "seenChanges", (SELECT max(o."seenChanges") FROM "process" o
            WHERE o."owner" <> $1 AND o."lastSeenAt" > clock_timestamp() - interval '3 seconds')
        """, [.integer])
    private static let listen = Statement("LISTEN tokenvault")
    /// Also reaches processes of other vaults in the database: it costs them one more heartbeat.
    private static let tell = Statement("NOTIFY tokenvault")
    /// After a failover the row may be gone; the values that are there say when it was last seen.
    private static let arrive = Statement(
        """
        INSERT INTO "process" ("owner", "host", "pid", "timeline", "hasChanged") VALUES ($1, $2, $3, $4, $5 <> 0)
        ON CONFLICT ("owner") DO UPDATE SET
            "seenBefore" = CASE
                WHEN "process"."timeline" <> $4
                    AND "process"."timeline" = (SELECT "timeline" FROM "engineState") THEN "process"."lastSeenAt"
                ELSE "process"."seenBefore" END,
            "timeline" = $4, "lastSeenAt" = clock_timestamp(), "hasChanged" = "process"."hasChanged" OR $5 <> 0
        """, [.integer, .text, .integer, .integer, .integer])
    /// Notifies the others if it has changed anything: a standby may have the change but not the row's end.
    private static let depart = Statement(
        """
        WITH "gone" AS (
            DELETE FROM "process"
            WHERE "owner" = $1 AND NOT EXISTS (SELECT 1 FROM "refreshIntent" WHERE "owner" = $1)
                AND EXISTS (SELECT 1 FROM "engineState" WHERE "timeline" = $2)
            RETURNING "owner", "hasChanged")
        SELECT count(*),
            count(*) FILTER (WHERE "hasChanged" AND pg_notify('tokenvault', "owner"::text) IS NOT NULL)
        FROM "gone"
        """, [.integer, .integer])
    /// Rows of processes that did not end cleanly and have shown no sign of life for a day, once they have nothing left
    /// in the vault. A living process may be without its lock for a moment.
    private static let forget = Statement(
        """
        DELETE FROM "process" p
        WHERE p."lastSeenAt" < clock_timestamp() - interval '1 day'
            AND NOT EXISTS (SELECT 1 FROM "refreshIntent" i WHERE i."owner" = p."owner")
            AND NOT EXISTS (\(AdvisoryLock.holders.replacing("$1", with: #"p."owner""#)))
        """)
}

extension String {
    fileprivate func replacing(_ part: String, with other: String) -> String {
        split(separator: part, omittingEmptySubsequences: false).joined(separator: other)
    }
}
