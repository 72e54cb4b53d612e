/// When a process may send what it has begun, and when others may take it over.
///
/// All limits stand here, since each relies on the others: `docs/adr/0075-wait-before-taking-over-across-machines.md`.
package enum OwnershipRules {
    /// After so long without a proof nothing more is sent: the server may have freed the lock.
    package static let longestSilence = Duration.seconds(3)
    /// How old what was looked at last may be when a refresh token is sent.
    package static let longestWayToRequest = Duration.seconds(5)
    /// How long a renewal has for all its requests, whatever its provider's profile says.
    package static let longestRenewal = Duration.seconds(45)
    /// After its last proof of life, a process counts as alive for the three together, and a margin.
    package static let longestAbsence = Duration.seconds(60)

    /// Whether a process has ended that has left a file on this machine, which it holds locked for life.
    ///
    /// - Parameter isProven: Whether a missing lock says so: in the process's own file, not in a copy of it, and as long as this
    ///   kernel runs.
    package static func hasEnded(isLocked: Bool, isProven: Bool) -> Bool { !isLocked && isProven }

    /// Whether others are sure to see a process.
    ///
    /// - Parameter proof: How long ago it began to ask the server for what it answered last, by a clock that goes on while the
    ///   machine sleeps.
    package static func isSeen(lastProof proof: Duration) -> Bool { proof <= longestSilence }

    /// Whether a process may still send what it has begun.
    ///
    /// The server frees the lock of a process when its connection ends. That does not mean that the process is dead: its network
    /// may be cut, while it still reaches the authorization server.
    ///
    /// - Parameter silence: How long ago the server heard of it last, by the server's clock; nil: it has left in good order, and
    ///   nothing of it is under way.
    package static func maySend(holdsLock: Bool, silence: Duration?) -> Bool {
        if holdsLock { return true }
        return silence.map { $0 < longestAbsence } ?? false
    }
}
