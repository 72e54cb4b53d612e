import FoundationEssentials
import TokenVault

/// How a renewal is shown that was begun and whose end is not recorded.
enum RenewalFacts {
    /// Who, since when, and how often.
    static func words(_ renewal: OpenRenewal, now: Date) -> String {
        let since = Instant.words(renewal.startedAt, now: now)
        let owner =
            switch renewal.owner {
            case .thisProcess: "begun \(since) by this process"
            case .otherProcess: "begun \(since) by another process, which lives"
            case .dead: "begun \(since) by a process that has ended"
            case .nobody: "open since \(since); no process is at work on it"
            }
        return owner + "; the refresh token was sent, or about to be, \(Count.of(renewal.tries, "time"))"
    }

    static func words(_ doubt: RenewalDoubt, now: Date) -> String {
        "since \(Instant.words(doubt.since, now: now)): \(cause(doubt.cause)); the refresh token may be spent"
    }

    static func sheet(_ renewal: OpenRenewal) -> Sheet {
        [
            .data("owner", renewal.owner.rawValue), .data("startedAt", renewal.startedAt),
            .data("tries", renewal.tries), .data("doubt", renewal.doubt.map(sheet)),
        ]
    }

    private static func sheet(_ doubt: RenewalDoubt) -> Sheet {
        [.data("since", doubt.since), .data("cause", doubt.cause.description)]
    }

    private static func cause(_ cause: RenewalDoubt.Cause) -> String {
        switch cause {
        case .ownerDied: "the process that renewed ended before it noted how that went"
        case .lostReply: "the request may have arrived, and no reply came that could be read"
        case .serverError: "the server answered with an error of its own, before or after it had renewed"
        case .takenOver: "the renewal was taken from a process that lives"
        default: "it is not known why"
        }
    }
}
