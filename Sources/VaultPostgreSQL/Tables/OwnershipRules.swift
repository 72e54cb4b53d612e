/// When a process may send what it has begun, and when others may take it over.
///
/// All limits are here, because each relies on the others: `docs/adr/0075-wait-before-taking-over-across-machines.md`.
package enum OwnershipRules {
    /// After this long without a proof nothing more is sent: the server may have freed the lock.
    package static let longestSilence = Duration.seconds(3)
    /// The maximum age of the last read when a refresh token is sent.
    package static let longestWayToRequest = Duration.seconds(5)
    /// The time limit for all requests of a renewal, whatever its provider's profile says.
    package static let longestRenewal = Duration.seconds(45)
    /// After its last proof of life, a process counts as alive for the sum of the three, plus a margin.
    package static let longestAbsence = Duration.seconds(60)

    /// Whether a process has ended that left a file on this machine, which it keeps locked while it lives.
    ///
    /// - Parameter isProven: whether a missing lock proves it: in the process's own file rather than a copy, and while
    ///   this kernel runs.
    package static func hasEnded(isLocked: Bool, isProven: Bool) -> Bool { !isLocked && isProven }

    /// Whether others are sure to see a process.
    ///
    /// - Parameter proof: how long ago it sent the server the query of its last answer, by a clock that keeps running
    ///   while the machine sleeps.
    package static func isSeen(lastProof proof: Duration) -> Bool { proof <= longestSilence }

    /// Whether a process may still send what it has begun.
    ///
    /// The server frees the lock of a process when its connection ends. That does not mean that the process is dead:
    /// its network may be cut, while it still reaches the authorization server.
    ///
    /// - Parameter silence: how long ago the server last heard from it, by the server's clock; nil: it has left
    ///   cleanly, and none of its work is in progress.
    package static func maySend(holdsLock: Bool, silence: Duration?) -> Bool {
        if holdsLock { return true }
        return silence.map { $0 < longestAbsence } ?? false
    }
}
