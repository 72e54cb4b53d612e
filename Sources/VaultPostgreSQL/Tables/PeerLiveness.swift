import VaultStorage

/// Which other processes may still send what they have begun.
///
/// A process that has the vault open holds an advisory lock, which the server frees when the connection ends. A free lock
/// does not mean that the process is dead: its network may be cut, while it still reaches the authorization server. So it
/// counts as alive until every request that it can have begun is over, by the server's clock.
struct PeerLiveness {
    /// After the last proof of life: ``ProcessLock/longestSilence``, then ``ProcessLock/longestWayToRequest``, then
    /// ``ProcessLock/longestRenewal``, and a margin.
    static let longestAbsence = Duration.seconds(60)

    /// nil: this process has none.
    let own: Int64?
    /// Whether this machine's kernel knows that the process has ended: then nobody has to wait.
    let hasEndedHere: @Sendable (Int64) -> Bool

    /// For what is done before the vault is open.
    static let unknown = PeerLiveness(own: nil) { _ in false }

    /// One of which that is not known counts as alive.
    func isAlive(_ owner: Int64, _ tables: ServerTables) -> Bool {
        if owner == own { return true }
        if hasEndedHere(owner) { return false }
        do throws(StoreError) {
            let answer = try tables.ask(
                Self.question, Parameters([.integer(owner), .integer(Self.longestAbsence.components.seconds)]))
            return answer.rowCount != 1 || answer.integer(0, 0) != 0
        } catch {
            return true
        }
    }

    /// A process that has ended in good order has taken its row away, and leaves nothing under way.
    private static let question = Statement(
        """
        SELECT CASE
            WHEN EXISTS (\(AdvisoryLock.holders)) THEN 1
            WHEN EXISTS (
                SELECT 1 FROM "process"
                WHERE "owner" = $1 AND "lastSeenAt" > clock_timestamp() - $2 * interval '1 second') THEN 1
            ELSE 0 END::int8
        """, [.integer, .integer])
}

/// The lock that a process holds for as long as its connection lives.
enum AdvisoryLock {
    /// Rows of those who hold the lock with the number in parameter 1.
    static let holders = """
        SELECT 1 FROM pg_locks
        WHERE locktype = 'advisory' AND granted AND objsubid = 1
            AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
            AND classid = (($1 >> 32) & 4294967295)::oid AND objid = ($1 & 4294967295)::oid
        """

    static let take = Statement("SELECT pg_try_advisory_lock($1)::int::int8", [.integer])
}
