import VaultStorage

/// Compares a stored token against a demand. Pure: the time is a parameter.
struct TokenClassifier: Sendable {
    /// By default a token is renewed when less than this remains …
    static let usualLead: Duration = .seconds(300)
    /// … or less than this part of its lifetime, so that a 60-second token is not renewed at every call.
    static let leadDivisor: Int64 = 5

    private let token: TokenTimes?
    private let now: Timestamp
    private let isAgeKnown: Bool
    /// It was obtained by a clock that was ahead. Its stored expiry and due time are useless.
    let isFromFuture: Bool

    /// A token from the future was obtained by a clock that has been set back since: its age is unknown.
    static let mostSkew = Duration.seconds(60)
    private static let mostSkewInMilliseconds = mostSkew.inMilliseconds

    /// - Parameters:
    ///   - token: The stored token; nil if there is no such token, or if it was refused.
    ///   - setBack: How far a wall clock was set back while this process ran, if it was.
    init(_ token: TokenTimes?, now: Timestamp, setBack: ClockWatch.SetBack? = nil) {
        self.token = token
        if let setBack, let token { self.now = setBack.judging(token.obtainedAt, at: now) } else { self.now = now }
        isFromFuture = token.map { $0.obtainedAt > now.advanced(byMilliseconds: Self.mostSkewInMilliseconds) } ?? false
        isAgeKnown = setBack != nil || !isFromFuture
    }

    /// Compares a session's token for this target; by default the login's own.
    init(
        position: ChainPosition, session: SessionRecord, target: TokenTarget = .own, now: Timestamp,
        setBack: ClockWatch.SetBack? = nil
    ) {
        self.init(session.times(target, at: position), now: now, setBack: setBack)
    }

    /// Whether the stored token needs no renewal.
    func isEnough(for demand: RenewalDemand) -> Bool {
        switch demand {
        case .newer(let generation): token.map { $0.generation > generation } ?? false
        case .validity(let asked): isAgeKnown && remains(asked.map(clipped) ?? usualLead)
        case .recovery, .due: false
        }
    }

    /// Whether the stored token is enough for this caller although a renewal was wanted and failed.
    func isAcceptable(for demand: RenewalDemand) -> Bool {
        switch demand {
        case .newer, .recovery, .due: isEnough(for: demand)
        case .validity(let asked): remains(asked.map(clipped) ?? 1)
        }
    }

    // In milliseconds: every read runs this, and a `Duration` has 128 bits.

    private func remains(_ needed: Int64) -> Bool {
        guard let token else { return false }
        guard let expiresAt = token.expiresAt else { return true }
        return expiresAt >= now.advanced(byMilliseconds: needed)
    }

    private var lifetime: Int64? {
        guard let token, let expiresAt = token.expiresAt else { return nil }
        return max(0, expiresAt.milliseconds(since: token.obtainedAt))
    }

    private var usualLead: Int64 { lifetime.map { Self.lead(ofMilliseconds: $0) } ?? 0 }

    /// The remaining time at which a token of this lifetime is renewed.
    static func lead(ofMilliseconds lifetime: Int64) -> Int64 {
        max(1, min(usualLeadInMilliseconds, lifetime / leadDivisor))
    }

    private static let usualLeadInMilliseconds = usualLead.inMilliseconds

    /// No token is valid for longer than its provider makes them: a caller that asks for more gets a fresh one, not a
    /// renewal at every call.
    private func clipped(_ asked: Duration) -> Int64 {
        guard let lifetime else { return asked.inMilliseconds }
        return max(1, min(asked.inMilliseconds, lifetime - lifetime / 20))
    }
}
