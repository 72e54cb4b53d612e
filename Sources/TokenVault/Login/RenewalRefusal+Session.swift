import VaultStorage

extension RenewalRefusal {
    /// Nothing postpones a login for longer: what says so was written by a clock that has been set back since.
    static let longestPostponement = Duration.seconds(7_200)

    /// What keeps a login from being renewed, as far as its session tells; nil: nothing.
    init?(session: SessionRecord, userStatus: UserStatus, isHeld: Bool, now: Timestamp) {
        if userStatus == .disabled {
            self = .userDisabled
        } else if session.state == .terminated {
            self = .terminated
        } else if isHeld {
            self = .held
        } else if let failure = session.failure {
            self = failure.isFinal ? .dead(RefreshFailure.Reason(code: failure.reason)) : .needsUser
        } else if let notBefore = session.notBefore, notBefore > now,
            notBefore <= now.advanced(by: Self.longestPostponement)
        {
            self = .postponed(until: notBefore)
        } else {
            return nil
        }
    }
}
