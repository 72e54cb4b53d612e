import VaultStorage

/// The settings that a session must have, whatever the server, the role or the environment say otherwise.
enum SessionSettings {
    private static func values(_ address: ServerAddress, isSurvey: Bool) -> [(name: String, value: String)] {
        [
            ("synchronous_commit", "on"), ("idle_in_transaction_session_timeout", isSurvey ? "1min" : "5s"),
            ("lock_timeout", "3s"), ("statement_timeout", isSurvey ? "0" : "10s"), ("idle_session_timeout", "0"),
            ("client_connection_check_interval", "1s"), ("default_transaction_isolation", "read committed"),
            ("TimeZone", "UTC"), ("search_path", address.schema), ("client_min_messages", "warning"),
            ("standard_conforming_strings", "on"), ("row_security", "off"),
        ]
    }

    /// How soon the server notices that this machine is gone. Over a UNIX socket they mean nothing, and read as 0.
    private static let keepalives = [
        ("tcp_keepalives_idle", "10"), ("tcp_keepalives_interval", "5"), ("tcp_keepalives_count", "3"),
    ]

    /// Server settings that a session cannot change, and without which a commit may be lost.
    private static let demanded: [(name: String, value: String)] = [("fsync", "on"), ("full_page_writes", "on")]

    /// Sets them and reads them back: over a pooler the next command may run in another session.
    ///
    /// - Parameter isSurvey: whether queries may take long.
    static func apply(
        to connection: ServerConnection, _ address: ServerAddress, isSurvey: Bool = false
    ) throws(StoreError) {
        try requireSessionOfItsOwn(connection)
        let values = values(address, isSurvey: isSurvey)
        for (name, value) in values + keepalives { try connection.send(set, Parameters([.text(name), .text(value)])) }
        try connection.sync()
        let answers = try values.map { (pair) throws(StoreError) in
            (pair.value, try connection.send(show, Parameters([.text(pair.name)])))
        }
        try connection.sync()
        for (value, command) in answers {
            guard try connection.answer(to: command).text(0, 0) == value else { throw .pooled }
        }
        for (name, value) in demanded where try setting(name, connection) != value {
            throw StoreError(
                .readOnly, "the database server runs with \(name)=off, so a commit can be lost",
                hint: "set \(name) = on in postgresql.conf, and restart the server")
        }
        guard try setting("transaction_read_only", connection) == "off" else {
            throw StoreError(
                .readOnly, "the database server accepts no changes: it is a standby, or set to be read-only",
                hint: "name all hosts of the cluster in the connection string: HOST1,HOST2")
        }
        try connection.identify()
    }

    /// A pooler answers in the server's place, and makes up the announced session number. Where sessions are shared,
    /// the next command may reach another one, or a free one may happen to be the same.
    private static func requireSessionOfItsOwn(_ connection: ServerConnection) throws(StoreError) {
        guard try connection.answer(to: connection.send(pid)).integer(0, 0) == connection.announcedSession else {
            throw .pooled
        }
    }

    private static func setting(_ name: String, _ connection: ServerConnection) throws(StoreError) -> String {
        try connection.answer(to: connection.send(show, Parameters([.text(name)]))).text(0, 0)
    }

    private static let set = Statement("SELECT set_config($1, $2, false)", [.text, .text])
    private static let show = Statement("SELECT current_setting($1)", [.text])
    /// Not kept: a prepared statement belongs to a session that a pooler may have passed to other clients.
    private static let pid = Statement("SELECT pg_backend_pid()::int8", isKept: false)
}

extension StoreError {
    fileprivate static var pooled: StoreError {
        StoreError(
            .readOnly, "the connection leads to a pooler, which may share its sessions among clients",
            hint: "connect to the database server itself: locks and settings need a session of their own")
    }
}
