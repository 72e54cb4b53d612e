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
    /// While the vault cannot be read or written, one login tries it again so often, for all that wait.
    static let trialInterval = Duration.seconds(2)
    /// How soon a decision of the operator is noticed that lets such a login be renewed.
    static let decisionInterval = Duration.seconds(2)
    static let mostRests = 100_000

    var inFlight: Set<LoginHandle> = []
    var flights: [ProviderHandle: Int] = [:]
    private var rests: [LoginHandle: Duration] = [:]
    /// Those that rest until something is decided about them.
    private(set) var undecided: Set<LoginHandle> = []
    /// Those that rest because the vault could not be read or written.
    private var unserved: Set<LoginHandle> = []
    /// Of these, the one that tries whether it can.
    private var trial: LoginHandle?
    /// Those whose client was refused, or that wait because it was, with their providers.
    private(set) var refused: [LoginHandle: ProviderHandle] = [:]
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

    /// The vault could not be read or written: no fault of this login's, and of no other's. One finds out when that is over.
    mutating func endUnserved(_ candidate: SchedulerRun.Candidate, uptime: Duration) {
        let isTrial = trial == nil || trial == candidate.login
        end(candidate, rest: isTrial ? Self.trialInterval : Self.shortRest, uptime: uptime)
        guard rests[candidate.login] != nil else { return }
        if isTrial { trial = candidate.login }
        unserved.insert(candidate.login)
    }

    /// The vault was written: none waits for that now.
    mutating func noteServed() {
        for waiting in unserved { rests[waiting] = nil }
        (unserved, trial) = ([], nil)
    }

    /// Whether any waits for that. Not for a trial that does not come: another process may have renewed that login.
    mutating func waitsForVault(uptime: Duration) -> Bool {
        guard let trial else { return false }
        let isOver = !inFlight.contains(trial) && (rests[trial] ?? .zero) + Self.trialInterval < uptime
        if isOver { noteServed() }
        return !isOver
    }

    mutating func noteRefusal(_ candidate: SchedulerRun.Candidate, isClientRefused: Bool) {
        guard isClientRefused else { return refused[candidate.login] = nil }
        if refused.count < Self.mostRests { refused[candidate.login] = candidate.provider }
    }

    /// The registration that was refused is not the one that is there now.
    mutating func noteNewRegistration(at provider: ProviderHandle) {
        for (login, other) in refused where other == provider { rests[login] = nil }
        refused = refused.filter { $0.value != provider }
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
        unserved = unserved.filter { rests[$0] != nil }
    }
}
