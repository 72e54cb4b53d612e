import OAuthClient
package import VaultStorage

/// Whether a refresh token that may be spent is sent again. Pure: the provider's known behaviour decides, and the
/// events so far. The table is in `docs/session-states.md`.
package struct ReplayPolicy: Equatable, Sendable {
    package enum Answer: Equatable, Sendable {
        /// At once: the server forgives a replay now, or one more try is the only option left.
        case atOnce
        /// After a backoff, in the hope of an answer.
        case later
        /// Not at all: it would affect more than this login.
        case never
        /// No longer: there has been no answer for a day.
        case exhausted
    }

    package struct Situation: Equatable, Sendable {
        /// Time since the first request whose outcome is unknown: the larger of wall-clock and monotonic time;
        /// negative: unknown.
        var elapsed: Duration
        /// The smaller of the two; nil: there is only one.
        var atLeast: Duration?
        /// How often this refresh token has been sent.
        var tries: Int
        /// The user has other living logins at this provider.
        var hasOtherLogins: Bool

        init(elapsed: Duration, atLeast: Duration? = nil, tries: Int, hasOtherLogins: Bool) {
            self.elapsed = elapsed
            self.atLeast = atLeast
            self.tries = tries
            self.hasOtherLogins = hasOtherLogins
        }

        package init(_ span: SteadyClock.Span, tries: Int, hasOtherLogins: Bool) {
            self.init(
                elapsed: span.isUnknown ? span.atLeast : span.atMost, atLeast: span.atLeast, tries: tries,
                hasOtherLogins: hasOtherLogins)
        }
    }

    package var rotates = true
    /// For this long after its use, the server still answers the old token.
    var grace = Duration.zero
    /// A server that sees a token twice ends all logins of the user, not only this one.
    package var harmsOtherLogins = false
    /// A server that sees a token twice only refuses it.
    package var forgivesReuse = false
    var isForbidden = false
    /// How long one request takes at most.
    var timeout = Duration.seconds(30)
    /// For this long after a second use, the server still ends the tokens that it gave for it.
    var memory = Self.usualMemory

    /// The default where nothing is known.
    static let usualMemory = Duration.seconds(30 * 86_400)

    /// Replays at once inside the grace period.
    static let mostAtOnce = 3
    /// A doubt ends unanswered after this many replays, over at least this long a time. Both, so that an outage ends no
    /// login.
    static let mostReplays = 6
    static let longestDoubt = Duration.seconds(86_400)

    package func answer(_ situation: Situation) -> Answer {
        let replays = max(0, situation.tries - 1)
        guard rotates else { return replays == 0 ? .atOnce : .later }
        if isForbidden { return .never }
        // A changed clock does not restore a grace period.
        if situation.elapsed >= .zero, situation.elapsed + timeout < grace {
            return replays < Self.mostAtOnce ? .atOnce : .later
        }
        if harmsOtherLogins, situation.hasOtherLogins { return .never }
        if replays == 0 { return .atOnce }
        let lasted = min(situation.elapsed, situation.atLeast ?? situation.elapsed)
        return replays >= Self.mostReplays && lasted >= Self.longestDoubt ? .exhausted : .later
    }

    /// Whether the answer can depend on the user's other logins.
    package var asksForOtherLogins: Bool { rotates && harmsOtherLogins && !isForbidden }

    /// Whether a server that sees a token twice ends the tokens that it gave for it.
    var punishesReuse: Bool { rotates && !forgivesReuse }
}

extension ReplayPolicy {
    package init(_ record: ProviderRecord) throws {
        let profile = try record.profile
        self.init(
            rotates: profile.refresh.rotation != .never, grace: profile.refresh.grace,
            harmsOtherLogins: profile.refresh.reuseBlast == .clientUser,
            forgivesReuse: profile.refresh.reuseBlast == .none, isForbidden: profile.refresh.replay == .never,
            timeout: profile.limits.timeout,
            memory: [profile.refresh.idleLifetime, profile.refresh.absoluteLifetime].compactMap { $0 }.min()
                ?? Self.usualMemory)
    }
}

extension ReplayPolicy {
    /// The time limit of a whole renewal: half as much again as one request, and no less than the default.
    var budget: Duration { max(.seconds(45), timeout * 3 / 2) }

    /// The same where another process takes over after a while, so that it must not take longer.
    ///
    /// - Parameter limit: nil: there is none.
    func budget(atMost limit: Duration?) -> Duration { limit.map { min(budget, $0) } ?? budget }

    /// After this time an owner counts as stalled: never one that is still within its budget.
    var stallLimit: Duration { budget + .seconds(15) }
}
