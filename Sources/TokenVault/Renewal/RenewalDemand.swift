import VaultStorage

/// What a caller needs of an access token.
enum RenewalDemand: Equatable, Sendable {
    /// Valid for at least so long; nil: for as long as is sensible for a token of its lifetime.
    case validity(Duration?)
    /// Newer than the one of this generation, whatever is left of that.
    case newer(than: Int64)
    /// None at all: what an earlier attempt left open is to be settled.
    case recovery
}

/// Judges a stored session against a demand. Pure: the time comes in.
struct TokenJudge: Sendable {
    /// By default a token is renewed when less than this remains …
    static let usualLead: Duration = .seconds(300)
    /// … or less than this part of its lifetime, so that a 60-second token is not renewed at every call.
    static let leadDivisor: Int64 = 5

    let position: ChainPosition
    let session: SessionRecord
    let now: Timestamp

    /// Whether the stored token needs no renewal.
    func isEnough(for demand: RenewalDemand) -> Bool {
        switch demand {
        case .newer(let generation): isUsable && position.generation > generation
        case .validity(let asked): remains(asked.map(clipped) ?? usualLead)
        case .recovery: false
        }
    }

    /// Whether the stored token does for this caller although a renewal was wanted and did not succeed.
    func isAcceptable(for demand: RenewalDemand) -> Bool {
        switch demand {
        case .newer, .recovery: isEnough(for: demand)
        case .validity(let asked): remains(asked.map(clipped) ?? .milliseconds(1))
        }
    }

    private var isUsable: Bool {
        session.accessToken != nil && session.rejectedGeneration != position.generation
    }

    private func remains(_ needed: Duration) -> Bool {
        guard isUsable else { return false }
        guard let expiresAt = session.expiresAt else { return true }
        return expiresAt >= now.advanced(by: needed)
    }

    private var lifetimeInMilliseconds: Int64? {
        session.expiresAt.map { max(0, $0.since(session.obtainedAt).inMilliseconds) }
    }

    private var usualLead: Duration {
        guard let lifetime = lifetimeInMilliseconds else { return .zero }
        return max(.milliseconds(1), min(Self.usualLead, .milliseconds(lifetime / Self.leadDivisor)))
    }

    /// Nobody can have a token that is valid for longer than its provider makes them: whoever asks for more gets a
    /// fresh one, not a renewal at every call.
    private func clipped(_ asked: Duration) -> Duration {
        guard let lifetime = lifetimeInMilliseconds else { return asked }
        return max(.milliseconds(1), min(asked, .milliseconds(lifetime - lifetime / 20)))
    }
}
