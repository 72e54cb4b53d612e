import VaultStorage

/// Whether a provider gets no requests, because it refused our client, or one login after the other. Pure.
///
/// One moment is one piece of evidence: the refusal of a request that was sent before the last piece arrived says
/// nothing new. A login that was refused before is no evidence, and does not probe while another login can.
struct Breaker: Equatable, Sendable {
    /// The number of different logins refused in a row that opens the breaker. One login alone never stops another.
    static let refusalLimit = 3
    /// The number of probes with short pauses between them, to get past dead logins to a living one. After that the
    /// pauses double.
    static let quickProbes = 32
    /// The time for which refused logins let others probe first.
    static let advantage = Duration.seconds(10)
    /// The time after which a probe without an answer no longer holds up the next one.
    private static let probeTime = Duration.seconds(30)

    /// The revision of the provider's row. When it changes, evidence about the old registration is void.
    private var revision: Int64?
    /// Moments in which the provider refused our client, or logins that it had not refused before.
    private var failures = 0
    private var end: Timestamp?
    /// Logins that were refused in a row, each for its own request; at most ``refusalLimit``.
    private var refused: Set<LoginHandle> = []
    /// Probes in a row of logins that had been refused before.
    private var staleProbes = 0
    private var isProbing = false
    /// Whether the vault records the provider as stopped, because it ended too many logins.
    private(set) var isStopped = false
    /// The current moment. All refused requests that were sent in it are one piece of evidence.
    private(set) var moment = 0

    /// The time until which the provider gets no requests; nil: it may get one.
    func openUntil(revision: Int64, now: Timestamp, isClean: Bool = true) -> Timestamp? {
        guard self.revision == revision, let end else { return nil }
        let until = isClean ? end : end.advanced(by: staleAdvantage)
        // A time beyond the longest pause means that the clock has been set back since.
        guard now < until, until <= now.advanced(by: Backoff.breaker.most + Backoff.breaker.most) else { return nil }
        return until
    }

    /// Whether a login is probing now.
    func isUnderProbe(now: Timestamp) -> Bool { isProbing && (end.map { now < $0 } ?? false) }

    /// The time for which no login may ask the provider.
    func pause(now: Timestamp) -> Duration {
        end.map { min(max(.zero, $0.since(now)), Backoff.breaker.most) } ?? .zero
    }

    /// Whether one login at a time probes.
    func isHalfOpen(now: Timestamp) -> Bool { end.map { $0 <= now } ?? false }

    /// As ``openUntil(revision:now:isClean:)``, with the right to probe. The first login that is let through after that
    /// time extends it, so that one login probes and the others wait for the result.
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
    /// - Parameter moment: The moment in which the request was sent.
    mutating func open(revision: Int64, now: Timestamp, random: Double, moment: Int) {
        guard adopt(revision), moment == self.moment else { return }
        nextMoment()
        end = now.advanced(by: Backoff.breaker.pause(afterFailures: failures, random: random))
    }

    /// A login's own request was refused, or the provider ended a login and that is not believed yet. Returns whether
    /// this opens the breaker or keeps it open.
    mutating func noteRefusal(
        of login: LoginHandle, isClean: Bool, revision: Int64, now: Timestamp, random: Double, moment: Int
    ) -> Bool {
        guard adopt(revision) else { return false }
        guard isClean else {
            // Nothing new: a login that was not refused before may probe immediately.
            if end != nil, isProbing {
                (end, isProbing) = (now, false)
                staleProbes += 1
            }
            return false
        }
        guard moment == self.moment else { return false }
        if refused.count < Self.refusalLimit { refused.insert(login) }
        guard refused.count >= Self.refusalLimit || isStopped else {
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

    /// The probe has ended its login, or needs the user, which says nothing about other logins.
    mutating func probeEnded(now: Timestamp) {
        guard isProbing, end != nil else { return }
        (end, isProbing) = (now.advanced(by: Backoff.probe.first), false)
    }

    /// Adopts the vault's record of whether the provider is stopped. A process that has just learned it probes
    /// immediately, with any login.
    ///
    /// - Parameter pause: The time without probes, if this process has just stopped the provider.
    mutating func follow(isStopped: Bool, revision: Int64, now: Timestamp, pause: Duration? = nil) {
        guard isStopped != self.isStopped, adopt(revision) else { return }
        self.isStopped = isStopped
        guard isStopped else { return close() }
        failures = 0
        end = now.advanced(by: pause ?? .zero - Self.advantage)
    }

    /// The provider has accepted the client. Requests sent earlier are no evidence against it.
    mutating func succeed() {
        isStopped = false
        close()
    }

    /// As ``succeed()``, for a success without a login, which does not show that the provider has stopped ending
    /// logins.
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

    /// Whether the registration has changed since the evidence was collected. True once.
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
        // Whether it ends logins does not depend on the registration.
        if isStopped { (self.isStopped, self.end) = (true, end) }
        return true
    }
}
