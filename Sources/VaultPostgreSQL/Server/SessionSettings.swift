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
        let all = values + keepalives
        try connection.send(set, Parameters([list(all.map(\.name)), list(all.map(\.value))]))
        try connection.sync()
        let expected = values + demanded + [("transaction_read_only", "off")]
        let found = try connection.answer(to: connection.send(show, Parameters([list(expected.map(\.name))])))
        guard Int(found.rowCount) == expected.count else { throw .pooled }
        for (row, setting) in zip(Int32(0)..., expected) where found.text(row, 0) != setting.value {
            throw refusal(setting.name)
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

    /// What it means that a setting does not have the value that it must.
    private static func refusal(_ name: String) -> StoreError {
        if name == "transaction_read_only" {
            return StoreError(
                .readOnly, "the database server accepts no changes: it is a standby, or set to be read-only",
                hint: "name all hosts of the cluster in the connection string: HOST1,HOST2")
        }
        guard demanded.contains(where: { $0.name == name }) else { return .pooled }
        return StoreError(
            .readOnly, "the database server runs with \(name)=off, so a commit can be lost",
            hint: "set \(name) = on in postgresql.conf, and restart the server")
    }

    /// An array of texts that contain no quotation marks.
    private static func list(_ texts: [String]) -> Parameters.Value {
        .text("{" + texts.map { "\"\($0)\"" }.joined(separator: ",") + "}")
    }

    private static let set = Statement(
        "SELECT count(set_config(name, value, false)) FROM unnest($1::text[], $2::text[]) AS setting (name, value)",
        [.text, .text], isKept: false)
    private static let show = Statement(
        "SELECT current_setting(name) FROM unnest($1::text[]) WITH ORDINALITY AS setting (name, place) ORDER BY place",
        [.text], isKept: false)
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
