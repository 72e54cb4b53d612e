import VaultStorage

/// What the last replies of a provider mean for logins that are not urgent, whether the scheduler or recovery renews
/// them: what one of them has found out, the others need not. Callers add to it and are not held up by it: their own
/// login decides. Pure; by a clock that is never set.
struct Pace: Equatable, Sendable {
    /// After failures of so many different logins in a row the provider is taken to be in trouble: it gets one request
    /// at a time, after pauses.
    static let patience = 3

    private var heldUntil = Duration.zero
    /// Failures in a row that say nothing about a login.
    private var setbacks = 0
    /// Whose they were, until there are enough of them: the troubles of one login are not its provider's.
    private var troubled: Set<LoginHandle> = []
    /// Renewals of scheduler and recovery.
    private var underWay = 0

    private var isInTrouble: Bool { troubled.count >= Self.patience }

    /// The result of a renewal.
    mutating func note(_ ending: RenewalMachine.Ending, of login: LoginHandle, uptime: Duration, random: Double) {
        switch ending {
        case .failed(.transient(let retryAfter, _, _)), .failed(.unprocessed(let retryAfter, _)):
            failed(login)
            if let retryAfter {
                leaveAlone(until: uptime + max(.zero, min(retryAfter, Backoff.longestRetryAfter)))
            }
        case .failed(.inDoubt): failed(login)
        case .renewed, .successorOnly, .failed(.dead), .failed(.needsUser):
            setbacks = 0
            troubled = []
        case .satisfied, .superseded, .refused, .failed: return
        }
        if isInTrouble {
            let failures = setbacks - Self.patience + 1
            leaveAlone(until: uptime + Backoff.provider.pause(afterFailures: failures, random: random))
        }
    }

    private mutating func failed(_ login: LoginHandle) {
        // One login may fail as often as it likes. Once several have, each failure counts.
        if isInTrouble || troubled.insert(login).inserted { setbacks += 1 }
    }

    mutating func leaveAlone(until uptime: Duration) {
        heldUntil = max(heldUntil, uptime)
    }

    /// Why it was left alone is void.
    mutating func release() {
        heldUntil = .zero
    }

    /// How long the provider is left alone; nil: it may be asked.
    func hold(uptime: Duration) -> Duration? {
        heldUntil > uptime ? heldUntil - uptime : nil
    }

    /// How many renewals may be under way that no caller waits for; nil: the provider is not in trouble.
    var bound: Int? {
        isInTrouble ? max(0, 1 - underWay) : nil
    }

    /// Takes a place for a renewal that no caller waits for. False: a provider in trouble has one already.
    mutating func begin() -> Bool {
        guard !isInTrouble || underWay == 0 else { return false }
        underWay += 1
        return true
    }

    mutating func end() {
        underWay -= 1
    }
}
