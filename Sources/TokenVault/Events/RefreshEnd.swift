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

    /// Nil if neither end is known.
    ///
    /// - Parameters:
    ///   - lifetime: The lifetime of the login's grant; nil: unknown.
    ///   - obtainedAt: When the refresh token was obtained.
    init?(_ look: LoginSnapshot, _ lifetime: GrantLifetime?, obtainedAt: Timestamp, _ options: SessionEventOptions) {
        var (end, start) = (look.refreshExpiresAt, obtainedAt)
        if let grant = look.grant, case .limited(let lifetime)? = lifetime {
            let endOfGrant = grant.since.advanced(by: lifetime)
            if end.map({ endOfGrant < $0 }) ?? true { (end, start) = (endOfGrant, grant.since) }
        }
        guard let end else { return nil }
        endsAt = end
        // The end of a refresh token that lives for a week is not announced on the day it was obtained.
        let lead = min(options.refreshTokenWarningLead, max(.zero, end.since(start) / 4))
        warnsAt = end.advanced(by: .zero - lead)
    }
}
