import VaultStorage

/// The pace at which the scheduler and recovery renew a provider's logins after its last replies: they share their
/// findings. Callers' renewals count, too, but are not held up: for them only their own login decides. Pure; times are
/// of a clock that is never set.
struct Pace: Equatable, Sendable {
    /// The number of different logins that must fail in a row before the provider counts as in trouble. Then it gets
    /// one request at a time, after pauses.
    static let failureLimit = 3

    private var heldUntil = Duration.zero
    /// Failures in a row that say nothing about a login.
    private var setbacks = 0
    /// The logins that failed, until there are enough of them: one failing login is not its provider's trouble.
    private var troubled: Set<LoginHandle> = []
    /// Renewals of the scheduler and of recovery that are under way.
    private var underWay = 0

    private var isInTrouble: Bool { troubled.count >= Self.failureLimit }

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
            let failures = setbacks - Self.failureLimit + 1
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

    /// Ends the pause: its reason no longer holds.
    mutating func release() {
        heldUntil = .zero
    }

    /// The rest of the pause; nil: the provider may be asked.
    func hold(uptime: Duration) -> Duration? {
        heldUntil > uptime ? heldUntil - uptime : nil
    }

    /// The number of further renewals that may start without a caller waiting; nil: the provider is not in trouble.
    var bound: Int? {
        isInTrouble ? max(0, 1 - underWay) : nil
    }

    /// Counts the start of a renewal that no caller waits for. False: the provider is in trouble and has one already.
    mutating func begin() -> Bool {
        guard !isInTrouble || underWay == 0 else { return false }
        underWay += 1
        return true
    }

    mutating func end() {
        underWay -= 1
    }
}
