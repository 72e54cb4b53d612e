package import VaultStorage

/// Whether a provider is believed that says a login is over. Pure.
///
/// Of one login it is. When it says so of one login after the other, and none succeeds between, it is news about the
/// provider as well: a downtime looks the same. Then it is stopped: the logins that come after wait.
enum EndingFuse: Equatable, Sendable {
    case believed
    /// Believed for this login, and for no other after it.
    case last
    /// The login waits.
    case waits

    /// Ends in a row that are believed, unless the provider's own settings say otherwise.
    static let usualMost = 8
    /// Fewer observations than this say nothing about what is usual.
    static let leastSample = 50
    /// So long after an operator has said that ends are right, all are believed.
    static let acceptance = Duration.seconds(86_400)

    /// - Parameter most: Of the provider's settings: ``ProviderRecord/mostDeaths``.
    /// - Parameter counts: Whether this end is one that counts: the loss of a reply explains the others.
    init(_ endings: ProviderEndings, most: Int?, now: Timestamp, counts: Bool = true) {
        if most == 0 {
            self = .believed
        } else if endings.stoppedAt != nil {
            self = .waits
        } else if !counts {
            self = .believed
        } else if let acceptedAt = endings.acceptedAt, acceptedAt <= now, now.since(acceptedAt) < Self.acceptance {
            self = .believed
        } else {
            self = endings.inARow + 1 >= Self.limit(least: most ?? Self.usualMost, endings) ? .last : .believed
        }
    }

    /// A run that is as long as chance makes it once in a million times at the provider's usual rate is none to stop for.
    static func limit(least: Int, _ endings: ProviderEndings) -> Int {
        let all = endings.endedBefore + endings.renewedBefore
        guard all >= leastSample, endings.endedBefore > 0 else { return max(1, least) }
        let rate = Double(endings.endedBefore) / Double(all + 1)
        var (run, chance) = (0, 1.0)
        while chance > 1e-6, run < 1_000 { (run, chance) = (run + 1, chance * rate) }
        return max(1, least, run)
    }
}

extension RefreshFailure.Reason {
    /// The provider has said it, and the refresh token is destroyed on its word.
    var isProvidersWord: Bool { self == .deadGrant || self == .lostResponse }
}

extension SessionRecord {
    /// Whether the provider has ended the login and its refresh token is kept for a while.
    package func isEndedAndKept(_ refresh: RefreshRecord?) -> Bool {
        guard state != .terminated, let failure, notBefore != nil, refresh?.refreshToken != nil else { return false }
        return failure.isDead && RefreshFailure.Reason(code: failure.reason).isProvidersWord
    }

    /// Whether the login has not been refused since its last success. One that was is no evidence about others.
    var isClean: Bool {
        guard attempts > 0, let status = lastRefusal?.status else { return true }
        return !(200..<500).contains(status) || status == 408 || status == 429
    }
}
