import Glibc
import Synchronization
import VaultCrypto
import VaultStorage

/// Shows other machines that this process lives, and tells this process whether they can see it.
///
/// A thread of its own holds the lock by a connection of its own, and proves once a second that the server still answers.
/// When the connection is lost it takes the same lock by a new one.
final class ProcessLock: Sendable {
    private static let heartbeat = 1_000

    let owner: Int64
    private let address: ServerAddress
    private let watch: HistoryWatch
    private let uptime: @Sendable () -> Duration

    private struct State {
        var lastProof: Duration?
        var isEnding = false
        var hasEnded = false
        /// Whether nothing of this process was left in the vault.
        var hasLeft = false
    }

    private let state = Mutex(State())
    private let wake: WakeUp
    private let ended = WakeUp()

    /// Takes the lock, or throws.
    init(
        _ address: ServerAddress, _ watch: HistoryWatch,
        uptime: @escaping @Sendable () -> Duration = ProcessLock.uptime
    ) throws(StoreError) {
        self.address = address
        self.watch = watch
        self.uptime = uptime
        owner = SecureRandom.bytes(8).reduce(Int64(0)) { $0 << 8 | Int64($1) } & (1 << 62 - 1) | 1
        wake = WakeUp()
        let start = uptime()
        let connection = try Self.connect(address, owner, isFirst: true, lost: nil)
        let session = try ServerSession(of: connection)
        state.withLock { $0.lastProof = start }
        let isStarted = OwnThread.start { self.run(connection, session) }
        guard isStarted else { throw StoreError(.outOfMemory, "the system gives no thread to hold the vault's lock") }
    }

    /// A clock that goes on while the machine sleeps.
    static let uptime: @Sendable () -> Duration = {
        var time = timespec()
        guard unsafe clock_gettime(CLOCK_BOOTTIME, &time) == 0 else { return .zero }
        return .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
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

    /// Lets the lock go. What this process has begun and not ended stays its own for as long as that may take.
    ///
    /// - Returns: Whether there was nothing of that kind.
    @discardableResult
    func release() -> Bool {
        if ForkGuard.isForked { return false }
        let isFirst = state.withLock { state in
            defer { state.isEnding = true }
            return !state.isEnding
        }
        if isFirst { wake.send() }
        ended.wait(milliseconds: nil)
        // For the next one who waits.
        ended.send()
        return state.withLock { $0.hasLeft }
    }

    // MARK: The thread

    private func run(_ first: ServerConnection, _ firstSession: ServerSession) {
        var connection: ServerConnection? = first
        // The one that held the lock last. The server may not have noticed its end.
        var session = firstSession
        while !state.withLock({ $0.isEnding }) {
            wake.wait(milliseconds: Self.heartbeat)
            let start = uptime()
            do throws(StoreError) {
                if let connection {
                    try beat(connection)
                } else {
                    let made = try Self.connect(address, owner, isFirst: false, lost: session)
                    try watch.refuseFormer(made.history)
                    session = try ServerSession(of: made)
                    connection = made
                    // If another server has taken over, this process begins to settle that.
                    try? watch.require(made.history)
                }
                state.withLock { $0.lastProof = start }
            } catch {
                connection = nil
            }
        }
        let hasLeft = leave(connection)
        state.withLock { state in
            state.hasEnded = true
            state.hasLeft = hasLeft
        }
        ended.send()
    }

    private func beat(_ connection: ServerConnection) throws(StoreError) {
        let command = try connection.send(Self.beat, Parameters([.integer(owner)]))
        try connection.sync(OwnershipRules.longestSilence)
        let answer = try connection.answer(to: command)
        guard answer.rowCount == 1 else {
            // Without its row this process counts as one that has left in good order.
            return try Self.arrive(connection, owner)
        }
        watch.note(answer.integer(0, 0), in: connection.history)
    }

    /// Takes the own row away, unless something is still under way, or others wait for what this process knows of the time
    /// before a failover.
    private func leave(_ connection: ServerConnection?) -> Bool {
        guard let connection else { return false }
        defer { connection.close() }
        do throws(StoreError) {
            let command = try connection.send(
                Self.depart, Parameters([.integer(owner), .integer(connection.history?.timeline ?? 0)]))
            try connection.sync(OwnershipRules.longestSilence)
            return try connection.answer(to: command).changeCount == 1
        } catch {
            // The row stays, and others wait as long as after a crash.
            return false
        }
    }

    private static func connect(
        _ address: ServerAddress, _ owner: Int64, isFirst: Bool, lost: ServerSession?
    ) throws(StoreError) -> ServerConnection {
        let connection = try ServerConnection(address)
        try SessionSettings.apply(to: connection, address)
        // No one waits for the proof that this process lives to reach the disk.
        try connection.send(asynchronously)
        let command = try connection.send(AdvisoryLock.take, Parameters([.integer(owner)]))
        guard try connection.answer(to: command).integer(0, 0) == 1 else {
            // The lock's number is this process's own, so only its lost connection can hold it: behind a proxy, for ever.
            try lost?.end(by: connection)
            throw .unreachable
        }
        if isFirst { try connection.send(forget) }
        try arrive(connection, owner)
        return connection
    }

    private static func arrive(_ connection: ServerConnection, _ owner: Int64) throws(StoreError) {
        try connection.send(
            arrive,
            Parameters([
                .integer(owner), .text(hostName), .integer(Int64(getpid())),
                .integer(connection.history?.timeline ?? 0),
            ]))
        try connection.sync()
    }

    private static var hostName: String {
        var name = [CChar](repeating: 0, count: 256)
        guard unsafe gethostname(&name, name.count - 1) == 0 else { return "" }
        return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private static let asynchronously = Statement("SET synchronous_commit = off")
    private static let beat = Statement(
        """
        UPDATE "process" SET "lastSeenAt" = clock_timestamp() WHERE "owner" = $1
        RETURNING (SELECT "changeCount" FROM "engineState")
        """, [.integer])
    /// After a failover the row may be gone; and when it was seen last before that, is told by what is there.
    private static let arrive = Statement(
        """
        INSERT INTO "process" ("owner", "host", "pid", "timeline") VALUES ($1, $2, $3, $4)
        ON CONFLICT ("owner") DO UPDATE SET
            "seenBefore" = CASE
                WHEN "process"."timeline" <> $4
                    AND "process"."timeline" = (SELECT "timeline" FROM "engineState") THEN "process"."lastSeenAt"
                ELSE "process"."seenBefore" END,
            "timeline" = $4, "lastSeenAt" = clock_timestamp()
        """, [.integer, .text, .integer, .integer])
    private static let depart = Statement(
        """
        DELETE FROM "process"
        WHERE "owner" = $1 AND NOT EXISTS (SELECT 1 FROM "refreshIntent" WHERE "owner" = $1)
            AND EXISTS (SELECT 1 FROM "engineState" WHERE "timeline" = $2)
        """, [.integer, .integer])
    /// Rows of processes that ended in no good order and have given no sign of life for a day, once nothing of theirs is
    /// left. One that lives may be without its lock for a moment.
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
