import VaultStorage

/// Which cluster of databases a connection leads to, and in which of its histories: a standby that takes over begins
/// another one, and so does a server that was restored to an earlier moment.
struct ServerTimeline: Hashable, Sendable {
    /// The server's number for the cluster, given when it was made.
    let system: Int64
    /// The server's number for the history. A later one is higher.
    let timeline: Int64

    init(system: Int64, timeline: Int64) {
        self.system = system
        self.timeline = timeline
    }

    /// That of the server at the other end.
    init(of connection: ServerConnection) throws(StoreError) {
        let answer = try connection.answer(to: connection.send(Self.question))
        guard answer.rowCount == 1, answer.integer(0, 1) > 0 else { throw .unreachable }
        self.init(system: answer.integer(0, 0), timeline: answer.integer(0, 1))
    }

    /// The name of a file of the log begins with the timeline. The control file knows of a new one only after a while.
    private static let question = Statement(
        """
        SELECT system_identifier, ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int8
        FROM pg_control_system()
        """)
}

extension StoreError {
    /// What the failover has lost is not known yet.
    static var unsettled: StoreError {
        StoreError(
            .busy, "the database has changed over to another server, and what that has lost is being found out",
            hint: "try again in a few seconds")
    }

    /// Two servers take changes: what is stored in this one is lost to all other processes.
    static var replaced: StoreError {
        StoreError(
            .busy, "the connection leads to a database server that another one has replaced",
            hint: "end the former primary, or make it a standby of the new one")
    }

    static var otherCluster: StoreError {
        StoreError(
            .rollbackSuspected, "the connection leads to another database cluster than before",
            hint: "if the database was moved on purpose, start this process anew; all logins are then held")
    }
}
