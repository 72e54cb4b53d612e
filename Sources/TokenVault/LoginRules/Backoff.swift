/// How long to wait after the n-th failure in a row.
struct Backoff: Sendable, Equatable {
    let first: Duration
    let most: Duration

    /// After a transient failure of a login.
    static let renewal = Backoff(first: .seconds(1), most: .seconds(300))
    /// Between two tries to write tokens that are in memory only.
    static let storing = Backoff(first: .milliseconds(50), most: .seconds(5))
    /// After a provider refused our client.
    static let breaker = Backoff(first: .seconds(30), most: .seconds(900))
    /// Between two logins that probe whether all of a provider's are refused.
    static let probe = Backoff(first: .seconds(2), most: .seconds(900))
    /// Between two requests of the scheduler to a provider in trouble.
    static let provider = Backoff(first: .seconds(2), most: .seconds(60))
    /// Between two tries to revoke.
    static let revocation = Backoff(first: .seconds(30), most: .seconds(3_600))

    /// The longest `Retry-After` that is obeyed: a server cannot shut a login out for a year.
    static let longestRetryAfter: Duration = .seconds(3_600)

    /// Doubles with each failure, and takes between half and all of that, so that many logins do not come back at once.
    /// - Parameter random: in 0..<1.
    func pause(afterFailures failures: Int, random: Double) -> Duration {
        let doublings = min(max(failures, 1) - 1, 20)
        let full = min(most, first * (1 << doublings))
        return full / 2 + (full / 2) * random
    }

    /// The pause that the server asks for, within bounds and never less than the backoff; with up to a tenth on top.
    func pause(afterFailures failures: Int, retryAfter: Duration?, random: Double) -> Duration {
        let own = pause(afterFailures: failures, random: random)
        guard let retryAfter else { return own }
        let asked = max(.zero, min(retryAfter, Self.longestRetryAfter))
        return max(own, min(asked + asked / 10 * random, Self.longestRetryAfter))
    }
}
