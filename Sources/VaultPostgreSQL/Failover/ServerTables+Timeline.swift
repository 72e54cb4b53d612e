import VaultStorage

/// The engine's own rows about the server's timeline, which all processes of a vault share.
extension ServerTables {
    /// The vault's last change number, and the timeline on which it is used.
    struct Turn {
        var changes: Int64
        let history: ServerTimeline
        /// Whether these are still the tables, in the database, that the processes use; false in a copy.
        let isHere: Bool
        /// Whether the last commit waited for a standby.
        let isSynchronous: Bool
    }

    /// The other processes that had the vault open before the failover.
    struct Peers {
        /// The number of those that have not yet reported what they know.
        let missing: Int64
        /// The same for those that have changed nothing, as far as this server knows.
        let missingReaders: Int64
        let survivors: Int64
        /// The highest number of changes that one of them knows of.
        let knownChanges: Int64
    }

    /// Begins a transaction in which no other process can change the vault, and in which nothing is recorded yet.
    func beginSettling() throws(StoreError) -> Turn {
        try begin(.writing)
        let row = try ask(Self.look)
        guard row.rowCount == 1 else { throw .lacksEngineState }
        return Turn(
            changes: row.integer(0, 0),
            history: ServerTimeline(system: row.integer(0, 1), timeline: row.integer(0, 2)),
            isHere: row.integer(0, 4) != 0, isSynchronous: row.integer(0, 3) != 0)
    }

    /// Whether the vault is changed on this connection's timeline; if so, the tracker continues from there. Also
    /// returns the database and table that the rows are in.
    func whereabouts(_ watch: TimelineTracker) throws(StoreError) -> (isSettled: Bool, place: Int64) {
        let row = try ask(Self.state)
        guard row.rowCount == 1 else { throw .lacksEngineState }
        let place = row.integer(0, 4)
        let history = ServerTimeline(system: row.integer(0, 1), timeline: row.integer(0, 2))
        guard history == connection.history, row.integer(0, 3) != 0 else { return (false, place) }
        watch.settle(connection.history, changes: row.integer(0, 0))
        return (true, place)
    }

    /// Runs commands as they were run before.
    func redo(_ changes: [RecordedChange]) throws(StoreError) {
        for change in changes { try connection.send(change.statement, change.parameters) }
        try connection.sync()
    }

    func setChanges(_ changes: Int64) throws(StoreError) {
        try connection.send(Self.setChanges, Parameters([.integer(changes)]))
    }

    /// Lets all processes work on this timeline.
    func setHistory(_ history: ServerTimeline?, changes: Int64) throws(StoreError) {
        guard let history else { throw .unreachable }
        try connection.send(
            Self.setHistory,
            Parameters([.integer(changes), .integer(history.system), .integer(history.timeline)]))
        try connection.send(Self.forgetReports)
        try announceHere()
        noteChangeNumber(changes)
    }

    /// Reports what this process knows, and returns what all processes have reported.
    ///
    /// A report counts until the timeline is settled, even across another failover: nothing is changed meanwhile. There
    /// is no wait for a process that ended long before the last sign of life on the former timeline: its commits
    /// precede that sign in the server's log. Nor is there one for a process that another process saw leave cleanly:
    /// the failed server had announced that, although its surviving log may end earlier. The wait for a process that
    /// has changed nothing is short.
    ///
    /// - Parameter left: the processes that have left; everything that they committed is among the known changes.
    func report(
        _ owner: Int64?, _ known: Int64?, left: [Int64], in history: ServerTimeline?
    ) throws(StoreError) -> Peers {
        guard let history else { throw .unreachable }
        if !left.isEmpty {
            let list = left.map { "\($0)" }.joined(separator: ",")
            try connection.send(Self.forgetLeft, Parameters([.text("{\(list)}")]))
        }
        if let owner {
            try connection.send(
                Self.report,
                Parameters([.integer(owner), .integer(history.timeline), known.map { .integer($0) }]))
        }
        let row = try ask(Self.peers)
        return Peers(
            missing: row.integer(0, 0), missingReaders: row.integer(0, 3), survivors: row.integer(0, 1),
            knownChanges: row.integer(0, 2))
    }

    /// `pg_restore` creates new tables, and a copy of a database is a different database.
    private static let place =
        "((SELECT oid FROM pg_database WHERE datname = current_database())::int8 << 32 | tableoid::int8)"
    /// Whether a row of `engineState` is in the table and database where it was written.
    static let isHere = #"("place" = \#(place))::int::int8"#

    private static let state = Statement(
        #"SELECT "changeCount", "system", "timeline", \#(isHere), \#(place) FROM "engineState" WHERE "id" = 1"#)
    private static let look = Statement(
        """
        SELECT "changeCount", "system", "timeline", "isSynchronous"::int::int8, \(isHere) FROM "engineState"
        WHERE "id" = 1 FOR UPDATE
        """)
    private static let setChanges = Statement(
        #"UPDATE "engineState" SET "changeCount" = $1 WHERE "id" = 1"#, [.integer])
    private static let setHistory = Statement(
        """
        UPDATE "engineState" SET "changeCount" = $1, "system" = $2, "timeline" = $3, "place" = \(place) WHERE "id" = 1
        """, [.integer, .integer, .integer])
    private static let report = Statement(
        #"UPDATE "process" SET "settledTimeline" = $2, "knownChanges" = $3 WHERE "owner" = $1"#,
        [.integer, .integer, .integer])
    private static let peers = Statement(
        """
        WITH "before" AS (
            SELECT "settledTimeline" IS NOT NULL AS "hasReported", "knownChanges", "hasChanged",
                CASE WHEN "timeline" = (SELECT "timeline" FROM "engineState") THEN "lastSeenAt" ELSE "seenBefore" END
                    AS "seenAt"
            FROM "process")
        SELECT
            count(*) FILTER (WHERE NOT "hasReported" AND "hasChanged"
                AND "seenAt" >= (SELECT max("seenAt") FROM "before") - interval '1 minute'),
            count(*) FILTER (WHERE "hasReported" AND "knownChanges" IS NOT NULL),
            COALESCE(max("knownChanges") FILTER (WHERE "hasReported"), 0),
            count(*) FILTER (WHERE NOT "hasReported" AND NOT "hasChanged"
                AND "seenAt" >= (SELECT max("seenAt") FROM "before") - interval '1 minute')
        FROM "before"
        """)
    private static let forgetLeft = Statement(
        #"DELETE FROM "process" WHERE "owner" = ANY ($1::int8[])"#, [.text])
    private static let forgetReports = Statement(
        """
        UPDATE "process" SET "settledTimeline" = NULL, "knownChanges" = NULL WHERE "settledTimeline" IS NOT NULL
        """)
}

extension StoreError {
    static var lacksEngineState: StoreError { StoreError(.damaged, "the vault's engineState row is missing") }
}
