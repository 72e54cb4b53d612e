import VaultStorage

extension RenewalRefusal {
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
        } else if let notBefore = session.notBefore, notBefore > now {
            self = .postponed(until: notBefore)
        } else {
            return nil
        }
    }
}

extension FailureRecord {
    /// Stored where other failures are, because it stops renewals in the same way; but the grant is not dead.
    static let needsUserCode: UInt8 = 32

    /// Whether the login is dead.
    var isFinal: Bool { reason != Self.needsUserCode }
}
