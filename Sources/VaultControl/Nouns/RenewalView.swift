import FoundationEssentials
import TokenVault
import VaultAdministration

/// How a renewal is displayed that was begun and whose end is not recorded.
enum RenewalView {
    /// The process, the start and the number of attempts.
    static func words(_ renewal: OpenRenewal, now: Date?) -> String {
        let since = Instant.words(renewal.startedAt, now: now)
        let owner =
            switch renewal.owner {
            case .thisProcess: "begun \(since) by this process"
            case .otherProcess: "begun \(since) by another process, which is alive"
            case .dead: "begun \(since) by a process that has ended"
            case .nobody: "open since \(since); no process is working on it"
            }
        return owner + "; the refresh token was sent, or about to be sent, \(Count.of(renewal.tries, "time"))"
    }

    static func words(_ doubt: RenewalDoubt, now: Date?) -> String {
        "since \(Instant.words(doubt.since, now: now)): \(cause(doubt.cause)); the refresh token may be spent"
    }

    static func record(_ renewal: OpenRenewal) -> OutputRecord {
        [
            .data("owner", renewal.owner.rawValue), .data("startedAt", renewal.startedAt),
            .data("tries", renewal.tries), .data("doubt", renewal.doubt.map(record)),
        ]
    }

    private static func record(_ doubt: RenewalDoubt) -> OutputRecord {
        [.data("since", doubt.since), .data("cause", doubt.cause.description)]
    }

    private static func cause(_ cause: RenewalDoubt.Cause) -> String {
        switch cause {
        case .ownerDied: "the process that renewed it ended before recording the outcome"
        case .lostReply: "the request may have arrived, and no usable reply came"
        case .serverError: "the server answered with an error, before or after it renewed the token"
        case .redirected: "the token endpoint redirected, before or after it renewed the token"
        case .takenOver: "the renewal was taken over from a process that is alive"
        default: "the reason is unknown"
        }
    }
}
