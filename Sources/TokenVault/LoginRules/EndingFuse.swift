package import VaultStorage

/// Whether a provider is believed when it reports that a login is over. Pure.
///
/// For a single login it is. When it ends one login after the other, and no renewal succeeds in between, the provider
/// itself may be at fault: an outage looks the same. Then the provider is stopped: the logins that follow wait.
enum EndingFuse: Equatable, Sendable {
    case believed
    /// Believed for this login, and for no other after it.
    case last
    /// The login waits.
    case waits

    /// Endings in a row that are believed, unless the provider's own settings differ.
    static let usualMost = 8
    /// With fewer observations than this, the usual rate is unknown.
    static let leastSample = 50
    /// For this long after an operator has accepted endings, all are believed.
    static let acceptance = Duration.seconds(86_400)

    /// - Parameter most: From the provider's settings: ``ProviderRecord/mostDeaths``.
    /// - Parameter counts: Whether this ending counts: the others are explained by a lost reply.
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

    /// A run that chance alone makes once in a million times, at the provider's usual rate, is no reason to stop.
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
    /// Whether the provider itself reported it, so that the refresh token is destroyed.
    var isProvidersWord: Bool { self == .deadGrant || self == .lostResponse }
}

extension SessionRecord {
    /// Whether the provider has ended the login and its refresh token is kept for a while.
    package func isEndedAndKept(_ refresh: RefreshRecord?) -> Bool {
        guard state != .terminated, let failure, notBefore != nil, refresh?.refreshToken != nil else { return false }
        return failure.isDead && RefreshFailure.Reason(code: failure.reason).isProvidersWord
    }

    /// Whether the login has not been refused since its last success. A login that was is no evidence about others.
    var isClean: Bool {
        guard attempts > 0, let refusal = lastRefusal, let status = refusal.status else { return true }
        // A reply that cannot be used refuses nothing.
        if refusal.isOfUnusableReply { return true }
        return !(200..<500).contains(status) || status == 408 || status == 429
    }
}
