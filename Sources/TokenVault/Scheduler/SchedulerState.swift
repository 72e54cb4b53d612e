import VaultStorage

/// What one run of the scheduler remembers from pass to pass, within bounds. Times are by a clock that is never set.
struct SchedulerState: Sendable {
    /// A login that was looked at is left alone for so long, whatever its row says: no clock and no row that cannot be
    /// written makes it ask a provider again and again.
    static let shortRest = Duration.seconds(30)
    /// What is left of that for a login that was renewed and whose token does not live much longer.
    static let leastRest = Duration.seconds(5)
    /// Of a login for which nothing can be done until something is changed.
    static let longRest = Duration.seconds(600)
    /// How soon a decision of the operator is noticed that lets such a login be renewed.
    static let decisionInterval = Duration.seconds(2)
    static let mostRests = 100_000

    var inFlight: Set<LoginHandle> = []
    var flights: [ProviderHandle: Int] = [:]
    private var rests: [LoginHandle: Duration] = [:]
    /// Those that rest until something is decided about them.
    private(set) var undecided: Set<LoginHandle> = []
    /// The last audit row that was read for that; nil until it is known where to begin.
    var decisionsAfter: Int64?
    private var purgedAt = Duration.zero
    /// Where the next look at the index begins; nil: at its beginning.
    var cursor: DueCursor?
    /// Many rows gave nothing: they are not gone through again before.
    var noLookBefore = Duration.zero
    /// What may be hidden behind a clock that was set back.
    var sweep: Sweep?
    var seenSetBack: ClockWatch.SetBack?
    var caredAt: Duration?
    /// When it was last looked whether the audit trail is to be pruned.
    var prunedAt: Duration?
    /// Until it has ended.
    var care: Task<Void, Never>?

    struct Sweep: Sendable {
        /// Where the next page begins; nil: the last has been read.
        var cursor: DueCursor?
        let end: Timestamp
        /// Of the page that was read, those that could not start yet.
        var pending: [DueLogin] = []
    }

    mutating func begin(_ candidate: SchedulerRun.Candidate) {
        inFlight.insert(candidate.login)
        if let provider = candidate.provider { flights[provider, default: 0] += 1 }
    }

    mutating func end(_ candidate: SchedulerRun.Candidate, rest: Duration, uptime: Duration) {
        inFlight.remove(candidate.login)
        if let provider = candidate.provider, let count = flights[provider] {
            flights[provider] = count > 1 ? count - 1 : nil
        }
        guard rests.count < Self.mostRests || rests[candidate.login] != nil else { return }
        var rest = rest
        if rest < Self.longRest {
            undecided.remove(candidate.login)
        } else if undecided.insert(candidate.login).inserted {
            // It may have been decided between the look at the login and the first one at the trail: it is looked at again.
            rest = Self.decisionInterval
        }
        rests[candidate.login] = uptime + rest
    }

    /// Something was decided: about one login, or about others too.
    mutating func noteDecision(about login: LoginHandle?) {
        for waiting in login.map({ undecided.contains($0) ? [$0] : [] }) ?? undecided { rests[waiting] = nil }
    }

    /// How long it is to be left alone; nil: it may be looked at.
    func rest(_ login: LoginHandle, uptime: Duration) -> Duration? {
        guard let until = rests[login], until > uptime else { return nil }
        return until - uptime
    }

    mutating func forgetRests(before uptime: Duration) {
        guard uptime - purgedAt >= .seconds(10) else { return }
        purgedAt = uptime
        rests = rests.filter { $0.value > uptime }
        undecided = undecided.filter { rests[$0] != nil }
    }
}
