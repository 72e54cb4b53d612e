import Synchronization

/// One refresh token and its history.
public struct RefreshTokenSummary: Sendable, Codable, Equatable {
    /// First 16 hexadecimal digits of the SHA-256.
    public var fingerprint: String
    public var grant: String
    public var user: String
    public var client: String
    /// Requests that presented it, however they ended.
    public var presented: Int
    /// Requests that were given tokens for it.
    public var redeemed: Int
    public var replayedInGrace: Int
    public var reuseDetected: Int
    /// Fingerprint of the token that took its place.
    public var successor: String?
    /// Wall clock of the server, milliseconds since 1970.
    public var issuedAt: Int64
    public var spentAt: Int64?

    enum CodingKeys: String, CodingKey {
        case fingerprint, grant, user, client, presented, redeemed, successor
        case replayedInGrace = "replayed_in_grace"
        case reuseDetected = "reuse_detected"
        case issuedAt = "issued_at"
        case spentAt = "spent_at"
    }
}

extension ServerCore {
    func refreshTokenSummaries(where isMeant: (Grant) -> Bool) -> [RefreshTokenSummary] {
        ledger.withLock { ledger in
            ledger.refreshTokenOrder.compactMap { token in
                guard let record = ledger.refreshTokens[token], let grant = ledger.grants[record.grant], isMeant(grant)
                else { return nil }
                return RefreshTokenSummary(
                    fingerprint: TokenFingerprint.of(token), grant: grant.id, user: grant.user, client: grant.client,
                    presented: record.tally.presented, redeemed: record.tally.redeemed,
                    replayedInGrace: record.tally.replayedInGrace, reuseDetected: record.tally.reuseDetected,
                    successor: record.successor.map(TokenFingerprint.of),
                    issuedAt: clock.wall(of: record.issuedAt).milliseconds,
                    spentAt: record.spentAt.map { clock.wall(of: $0).milliseconds })
            }
        }
    }

    func refreshTokens(_ query: String?) throws(ControlError) -> [RefreshTokenSummary] {
        guard let query else { return refreshTokenSummaries { _ in true } }
        guard query.hasPrefix("grant=") else { throw ControlError(sentence: "the only parameter is grant=ID") }
        let id = query.dropFirst(6)
        return refreshTokenSummaries { $0.id == id }
    }
}
