import VaultStorage

/// The memory of one run of the scheduler from pass to pass, within bounds. Times are by a clock that is never set.
struct SchedulerState: Sendable {
    /// A login that was examined is left alone for this long, whatever its row says: no clock and no unwritable row
    /// makes it ask a provider again and again.
    static let shortRest = Duration.seconds(30)
    /// The shortened rest of a login that was renewed and whose token does not live much longer.
    static let leastRest = Duration.seconds(5)
    /// The rest of a login that can do nothing until something changes.
    static let longRest = Duration.seconds(600)
    /// While the vault cannot be read or written, one login tries it this often, for all that wait.
    static let trialInterval = Duration.seconds(2)
    /// How soon an operator's decision that lets such a login be renewed is noticed.
    static let decisionInterval = Duration.seconds(2)
    static let mostRests = 100_000

    var inFlight: Set<LoginHandle> = []
    var flights: [ProviderHandle: Int] = [:]
    private var rests: [LoginHandle: Duration] = [:]
    /// Logins that rest until a decision about them.
    private(set) var undecided: Set<LoginHandle> = []
    /// Logins that rest because the vault could not be read or written.
    private var unserved: Set<LoginHandle> = []
    /// The one of these that tries whether it works again.
    private var trial: LoginHandle?
    /// Logins whose client was refused, or that wait because it was, with their providers.
    private(set) var refused: [LoginHandle: ProviderHandle] = [:]
    /// The last audit row that was read for decisions; nil until it is known where to begin.
    var decisionsAfter: Int64?
    private var purgedAt = Duration.zero
    /// Where the next check of the index begins; nil: at its beginning.
    var cursor: DueCursor?
    /// Many rows had no result: they are not visited again before this time.
    var noLookBefore = Duration.zero
    /// The search for logins that a clock that was set back may hide.
    var sweep: Sweep?
    var seenSetBack: ClockWatch.SetBack?
    var caredAt: Duration?
    /// When it last checked whether the audit trail must be pruned.
    var prunedAt: Duration?
    /// When it next compares what providers reply with their profiles.
    var driftDueAt: Duration?
    /// Nil once it has ended.
    var care: Task<Void, Never>?

    struct Sweep: Sendable {
        /// Where the next page begins; nil: the last has been read.
        var cursor: DueCursor?
        let end: Timestamp
        /// The logins of the page that could not start yet.
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
            // The decision may have come between the check of the login and the first one of the trail: it is checked
            // again.
            rest = Self.decisionInterval
        }
        rests[candidate.login] = uptime + rest
    }

    /// The vault could not be read or written: no login is at fault. One of them finds out when that is over.
    mutating func endUnserved(_ candidate: SchedulerRun.Candidate, uptime: Duration) {
        let isTrial = trial == nil || trial == candidate.login
        end(candidate, rest: isTrial ? Self.trialInterval : Self.shortRest, uptime: uptime)
        guard rests[candidate.login] != nil else { return }
        if isTrial { trial = candidate.login }
        unserved.insert(candidate.login)
    }

    /// The vault was written: no login waits for that now.
    mutating func noteServed() {
        for waiting in unserved { rests[waiting] = nil }
        (unserved, trial) = ([], nil)
    }

    /// Whether any login waits for that. Not for a trial that never comes: another process may have renewed that login.
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

    /// The refused registration has been replaced.
    mutating func noteNewRegistration(at provider: ProviderHandle) {
        for (login, other) in refused where other == provider { rests[login] = nil }
        refused = refused.filter { $0.value != provider }
    }

    /// A decision was made: about one login, or about others too.
    mutating func noteDecision(about login: LoginHandle?) {
        for waiting in login.map({ undecided.contains($0) ? [$0] : [] }) ?? undecided { rests[waiting] = nil }
    }

    /// How long it must be left alone; nil: it may be examined.
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
