import VaultStorage

/// Which other processes may still send what they have begun: queries the server for the data that ``OwnershipRules``
/// needs.
struct PeerLiveness {
    /// nil: this process has no name.
    let own: Int64?
    /// Whether this machine's kernel knows that the process has ended: then there is nothing to wait for.
    let hasEndedHere: @Sendable (Int64) -> Bool

    /// For work before the vault is open.
    static let unknown = PeerLiveness(own: nil) { _ in false }

    /// A process of unknown state counts as alive.
    func isAlive(_ owner: Int64, _ tables: ServerTables) -> Bool {
        if owner == own { return true }
        if hasEndedHere(owner) { return false }
        do throws(StoreError) {
            let answer = try tables.ask(Self.question, Parameters([.integer(owner)]))
            guard answer.rowCount == 1 else { return true }
            return OwnershipRules.maySend(
                holdsLock: answer.integer(0, 0) != 0,
                silence: answer.isNull(0, 1) ? nil : .milliseconds(answer.integer(0, 1)))
        } catch {
            return true
        }
    }

    /// A process that ended cleanly has deleted its row, and leaves no work in progress.
    private static let question = Statement(
        """
        SELECT (EXISTS (\(AdvisoryLock.holders)))::int::int8,
            (SELECT floor(extract(epoch FROM clock_timestamp() - "lastSeenAt") * 1000)::int8 FROM "process"
            WHERE "owner" = $1)
        """, [.integer])
}

/// The lock that a process holds as long as its connection lives.
enum AdvisoryLock {
    /// Rows of the processes that hold the lock with the number in parameter 1.
    static let holders = """
        SELECT 1 FROM pg_locks
        WHERE locktype = 'advisory' AND granted AND objsubid = 1
            AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
            AND classid = (($1 >> 32) & 4294967295)::oid AND objid = ($1 & 4294967295)::oid
        """

    static let take = Statement("SELECT pg_try_advisory_lock($1)::int::int8", [.integer])
}
