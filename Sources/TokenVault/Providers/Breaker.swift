import VaultStorage

/// Whether a provider is left alone, because it refused our client. Pure.
struct Breaker: Equatable, Sendable {
    /// So many different logins without a success between are no coincidence. One login alone stops no other.
    static let patience = 3

    /// Of the provider's row. When it changes, what was learned about the old registration is void.
    private var revision: Int64?
    private var failures = 0
    private var end: Timestamp?
    /// Logins that were refused one after the other, each for what it asked.
    private var refused: Set<LoginHandle> = []

    /// Until when the provider is not asked; nil: it may be.
    func openUntil(revision: Int64, now: Timestamp) -> Timestamp? {
        // One that is open for longer than any is, was opened by a clock that has been set back since.
        guard self.revision == revision, let end, now < end, end <= now.advanced(by: Backoff.breaker.most) else {
            return nil
        }
        return end
    }

    /// The same, with the right to probe: the first that is let through after that time moves the time on, so that one
    /// login tries and the others wait for what it learns.
    mutating func probe(revision: Int64, now: Timestamp) -> Timestamp? {
        if let until = openUntil(revision: revision, now: now) { return until }
        if self.revision == revision, end != nil { end = now.advanced(by: Backoff.breaker.first) }
        return nil
    }

    mutating func open(revision: Int64, now: Timestamp, random: Double) {
        guard adopt(revision) else { return }
        failures += 1
        end = now.advanced(by: Backoff.breaker.pause(afterFailures: failures, random: random))
    }

    /// Counts a login that was refused for what it asked. True: there have been enough of them to open the breaker.
    mutating func noteRefusal(of login: LoginHandle, revision: Int64) -> Bool {
        guard adopt(revision) else { return false }
        // A probe of a breaker that these have opened keeps it open.
        if refused.count < Self.patience { refused.insert(login) }
        return refused.count >= Self.patience
    }

    /// False for a registration that has been changed since.
    private mutating func adopt(_ revision: Int64) -> Bool {
        if let known = self.revision, known >= revision { return known == revision }
        self = Breaker()
        self.revision = revision
        return true
    }
}
