/// The state of a stored session at an instant. The expiry of a token is not recorded; it depends on the time alone.
package enum SessionSummary: Hashable, Sendable {
    case establishing
    case established
    case tokenExpired
    /// The login is dead.
    case refreshFailed(FailureRecord)
    case terminated(UInt8)

    package init(_ session: SessionRecord, at now: Timestamp) {
        switch session.state {
        case .terminated: self = .terminated(session.terminationReason ?? 0)
        case .establishing: self = .establishing
        case .established, .tokenExpired:
            let hasRunOut = session.accessToken == nil || session.expiresAt.map { $0 <= now } ?? false
            if let failure = session.failure, failure.isDead {
                self = .refreshFailed(failure)
            } else {
                self = hasRunOut ? .tokenExpired : .established
            }
        }
    }
}
