import VaultStorage

/// When a login's refresh token or its whole grant ends, whichever comes first, and when that is announced.
struct RefreshEnd: Equatable, Sendable {
    let endsAt: Timestamp
    let warnsAt: Timestamp

    /// Nil: neither end is known.
    ///
    /// - Parameters:
    ///   - lifetime: How long grants of the login's provider last, however often they are renewed.
    ///   - obtainedAt: When the refresh token came.
    init?(_ look: LoginLook, lifetime: Duration?, obtainedAt: Timestamp, _ options: SessionEventOptions) {
        var (end, start) = (look.refreshExpiresAt, obtainedAt)
        if let grant = look.grant, let lifetime {
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
