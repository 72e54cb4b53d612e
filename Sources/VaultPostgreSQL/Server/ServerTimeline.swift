import VaultStorage

/// The database cluster that a connection leads to, and the cluster's timeline: a standby that takes over starts a new
/// timeline, and so does a server that was restored to an earlier moment.
struct ServerTimeline: Hashable, Sendable {
    /// The server's number for the cluster, assigned when it was created.
    let system: Int64
    /// The server's number for the timeline. A later one is higher.
    let timeline: Int64

    init(system: Int64, timeline: Int64) {
        self.system = system
        self.timeline = timeline
    }

    /// The timeline of the server at the other end.
    init(of connection: ServerConnection) throws(StoreError) {
        let answer = try connection.answer(to: connection.send(Self.question))
        guard answer.rowCount == 1, answer.integer(0, 1) > 0 else { throw .unreachable }
        self.init(system: answer.integer(0, 0), timeline: answer.integer(0, 1))
    }

    /// The name of a log file starts with the timeline. The control file shows a new one only after a while.
    private static let question = Statement(
        """
        SELECT system_identifier, ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int8
        FROM pg_control_system()
        """)
}

extension StoreError {
    /// It is not known yet what the failover has lost.
    static var unsettled: StoreError {
        StoreError(
            .busy, "the database has failed over to another server, and the vault is checking what was lost",
            hint: "try again in a few seconds")
    }

    /// Two servers accept changes: what is stored in this one is lost to all other processes.
    static var replaced: StoreError {
        StoreError(
            .busy, "the connection leads to a database server that another one has replaced",
            hint: "end the former primary, or make it a standby of the new one")
    }

    static var otherCluster: StoreError {
        StoreError(
            .rollbackSuspected, "the connection leads to another database cluster than before",
            hint: "if the database was moved on purpose, restart this process; all logins are then held")
    }
}
