package import VaultStorage

/// Why no attempt was made.
package enum RenewalRefusal: Equatable, Sendable {
    case loginMissing
    case terminated
    case userDisabled
    case held
    /// Another system owns its chain: the one that it was imported from, or exported to.
    case heldBySource(isTokenRejected: Bool)
    case dead(RefreshFailure.Reason)
    case needsUser
    case notRefreshable
    case postponed(until: Timestamp)
    case providerMissing
    case breakerOpen(until: Timestamp)
    /// The provider has ended too many logins in a row: they are tried one at a time, and endings are not believed.
    case providerStopped(until: Timestamp)
    /// The provider gave no token for this resource or scope a moment ago.
    case targetRefused
    /// The refresh token may be spent and must not be sent again. The access token is good until then; nil: for as long
    /// as resource servers accept it.
    case mayNotSendAgain(until: Timestamp?)
    case ownerStalled
    case ownershipLost
    case closed
    /// The store did not accept the intent: nothing was sent.
    case storeFailed
    /// Another process has held the vault's write lock for too long, or the server cannot be reached: nothing was sent.
    case storeBusy(StoreError?)
    /// There is no room for the intent, or for the reply: nothing was sent.
    case storageFull
    /// The vault cannot be written here: nothing was sent.
    case readOnly(StoreError?)
    /// The store's data of the login or its provider is damaged, or out of date: nothing was sent.
    case notBelieved(StoreError)
}

extension RenewalRefusal {
    /// Nothing postpones a login for longer: a longer postponement was written by a clock that has been set back since.
    static let longestPostponement = Duration.seconds(7_200)

    package init?(_ stored: some StoredSession, now: Timestamp) {
        self.init(session: stored.session, userStatus: stored.userStatus, isHeld: stored.isHeld, now: now)
    }

    /// The obstacle to renewing a login, as far as its session shows one; nil: none.
    init?(session: SessionRecord, userStatus: UserStatus, isHeld: Bool, now: Timestamp) {
        if userStatus == .disabled {
            self = .userDisabled
        } else if session.state == .terminated {
            self = .terminated
        } else if isHeld {
            self =
                session.isHeldBySource
                ? .heldBySource(isTokenRejected: session.rejectedGeneration != nil) : .held
        } else if let failure = session.failure {
            self = failure.isDead ? .dead(RefreshFailure.Reason(code: failure.reason)) : .needsUser
        } else if let notBefore = session.notBefore, notBefore > now,
            notBefore <= now.advanced(by: Self.longestPostponement)
        {
            self = .postponed(until: notBefore)
        } else {
            return nil
        }
    }
}
