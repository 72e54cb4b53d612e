import VaultStorage

/// How long a provider's grants last, however often they are renewed.
enum GrantLifetime: Equatable, Sendable {
    case unlimited
    case limited(Duration)

    init(_ lifetime: Duration?) { self = lifetime.map { .limited($0) } ?? .unlimited }
}

/// When a login's refresh token or its whole grant ends, whichever comes first, and when that is announced.
struct RefreshEnd: Equatable, Sendable {
    let endsAt: Timestamp
    let warnsAt: Timestamp

    /// Nil: neither end is known.
    ///
    /// - Parameters:
    ///   - lifetime: That of the login's grant; nil: not known.
    ///   - obtainedAt: When the refresh token came.
    init?(_ look: LoginSnapshot, _ lifetime: GrantLifetime?, obtainedAt: Timestamp, _ options: SessionEventOptions) {
        var (end, start) = (look.refreshExpiresAt, obtainedAt)
        if let grant = look.grant, case .limited(let lifetime)? = lifetime {
            let endOfGrant = grant.since.advanced(by: lifetime)
            if end.map({ endOfGrant < $0 }) ?? true { (end, start) = (endOfGrant, grant.since) }
        }
        guard let end else { return nil }
        endsAt = end
        // A refresh token that lives for a week is not announced to end on the day on which it came.
        let lead = min(options.refreshTokenWarningLead, max(.zero, end.since(start) / 4))
        warnsAt = end.advanced(by: .zero - lead)
    }
}
