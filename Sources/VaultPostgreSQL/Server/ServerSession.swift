import VaultStorage

/// Identifies a connection's session on the server, so that another connection can end it.
struct ServerSession {
    private let pid: Int64
    /// Process numbers are reused.
    private let start: String

    init(of connection: ServerConnection) throws(StoreError) {
        let answer = try connection.answer(to: connection.send(Self.own))
        pid = answer.integer(0, 0)
        start = answer.text(0, 1)
    }

    /// Ends the session, if it still exists.
    func end(by connection: ServerConnection) throws(StoreError) {
        try? connection.sync()
        try connection.send(Self.terminate, Parameters([.integer(pid), .text(start)]))
        try connection.sync()
    }

    private static let own = Statement(
        "SELECT pid::int8, backend_start::text FROM pg_stat_activity WHERE pid = pg_backend_pid()")
    private static let terminate = Statement(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = $1 AND backend_start::text = $2",
        [.integer, .text])
}
