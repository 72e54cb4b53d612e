import VaultStorage

/// Whether a provider is left alone, because it refused our client, or logins one after the other. Pure.
///
/// One moment is one piece of evidence: what was sent before the last piece came in says nothing new when it is refused,
/// too. A login that was refused before is no evidence, and does not probe while one that was not is there.
struct Breaker: Equatable, Sendable {
    /// So many different logins without a success between are no coincidence. One login alone stops no other.
    static let patience = 3
    /// Logins that probe one soon after the other: dead ones are gone through until a living one comes. After that the
    /// pauses double.
    static let quickProbes = 32
    /// Refused logins leave the first word to others for so long.
    static let advantage = Duration.seconds(10)
    /// A probe that brings no answer holds up the next one for so long.
    private static let probeTime = Duration.seconds(30)

    /// Of the provider's row. When it changes, what was learned about the old registration is void.
    private var revision: Int64?
    /// Moments in which it refused our client, or that logins which had not been refused before were.
    private var failures = 0
    private var end: Timestamp?
    /// Logins that were refused one after the other, each for what it asked; as many as decide.
    private var refused: Set<LoginHandle> = []
    /// Probes in a row of logins that had been refused before.
    private var staleProbes = 0
    private var isProbing = false
    /// It has ended so many logins that the vault remembers it.
    private(set) var isStopped = false
    /// Which moment it is: what is sent in it and refused is one piece of evidence.
    private(set) var moment = 0

    /// Until when the provider is not asked; nil: it may be.
    func openUntil(revision: Int64, now: Timestamp, isClean: Bool = true) -> Timestamp? {
        guard self.revision == revision, let end else { return nil }
        let until = isClean ? end : end.advanced(by: staleAdvantage)
        // One that is open for longer than any is, was opened by a clock that has been set back since.
        guard now < until, until <= now.advanced(by: Backoff.breaker.most + Backoff.breaker.most) else { return nil }
        return until
    }

    /// Whether a login is finding out just now.
    func isUnderProbe(now: Timestamp) -> Bool { isProbing && (end.map { now < $0 } ?? false) }

    /// How long the provider is left alone by all logins.
    func pause(now: Timestamp) -> Duration {
        end.map { min(max(.zero, $0.since(now)), Backoff.breaker.most) } ?? .zero
    }

    /// Whether one login at a time probes.
    func isHalfOpen(now: Timestamp) -> Bool { end.map { $0 <= now } ?? false }

    /// The same, with the right to probe: the first that is let through after that time moves the time on, so that one
    /// login tries and the others wait for what it learns.
    ///
    /// - Parameter isClean: Whether the login has not been refused since its last success.
    mutating func probe(revision: Int64, now: Timestamp, isClean: Bool = true) -> Timestamp? {
        if let until = openUntil(revision: revision, now: now, isClean: isClean) { return until }
        if self.revision == revision, end != nil {
            end = now.advanced(by: Self.probeTime)
            isProbing = true
        }
        return nil
    }

    /// The client was refused.
    ///
    /// - Parameter moment: In which the request was sent.
    mutating func open(revision: Int64, now: Timestamp, random: Double, moment: Int) {
        guard adopt(revision), moment == self.moment else { return }
        nextMoment()
        end = now.advanced(by: Backoff.breaker.pause(afterFailures: failures, random: random))
    }

    /// A login was refused for what it asked, or ended while that is not believed. True: this opens the breaker, or keeps
    /// it open.
    mutating func noteRefusal(
        of login: LoginHandle, isClean: Bool, revision: Int64, now: Timestamp, random: Double, moment: Int
    ) -> Bool {
        guard adopt(revision) else { return false }
        guard isClean else {
            // Nothing new: whoever was not refused before may probe at once.
            if end != nil, isProbing {
                (end, isProbing) = (now, false)
                staleProbes += 1
            }
            return false
        }
        guard moment == self.moment else { return false }
        if refused.count < Self.patience { refused.insert(login) }
        guard refused.count >= Self.patience || isStopped else {
            self.moment += 1
            return false
        }
        nextMoment()
        let pause =
            failures <= Self.quickProbes
            ? Backoff.probe.first : Backoff.probe.pause(afterFailures: failures - Self.quickProbes, random: random)
        end = now.advanced(by: pause)
        return true
    }

    /// The probe has ended its login, or its user is needed: that says nothing about the others.
    mutating func probeEnded(now: Timestamp) {
        guard isProbing, end != nil else { return }
        (end, isProbing) = (now.advanced(by: Backoff.probe.first), false)
    }

    /// What the vault says of it: stopped, or no longer. Who has just learned it probes at once, whoever that is.
    ///
    /// - Parameter pause: How long nobody probes, if it was stopped here and now.
    mutating func follow(isStopped: Bool, revision: Int64, now: Timestamp, pause: Duration? = nil) {
        guard isStopped != self.isStopped, adopt(revision) else { return }
        self.isStopped = isStopped
        guard isStopped else { return close() }
        failures = 0
        end = now.advanced(by: pause ?? .zero - Self.advantage)
    }

    /// The provider has taken the client. What was sent before says nothing against it.
    mutating func succeed() {
        isStopped = false
        close()
    }

    /// The same without a login: what it has ended is another question.
    mutating func close() {
        guard !isStopped else { return }
        (refused, end, failures, staleProbes, isProbing) = ([], nil, 0, 0, false)
        moment += 1
    }

    private mutating func nextMoment() {
        failures += 1
        moment += 1
        (staleProbes, isProbing) = (0, false)
    }

    private var staleAdvantage: Duration {
        min(Self.advantage * (1 << min(staleProbes, 7)), Backoff.breaker.most)
    }

    /// Whether the registration was changed since what was learned. True once.
    mutating func isVoid(at revision: Int64) -> Bool {
        guard let known = self.revision, known < revision else { return false }
        return adopt(revision)
    }

    /// False for a registration that has been changed since.
    private mutating func adopt(_ revision: Int64) -> Bool {
        if let known = self.revision, known >= revision { return known == revision }
        let (isStopped, moment, end) = (self.isStopped, self.moment, self.end)
        self = Breaker()
        self.revision = revision
        self.moment = moment
        // That it ends logins is not about the registration.
        if isStopped { (self.isStopped, self.end) = (true, end) }
        return true
    }
}
