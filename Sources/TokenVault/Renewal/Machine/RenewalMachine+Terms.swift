// The machine's states, events and effects.
extension RenewalMachine {
    enum State: Equatable, Sendable {
        case idle
        /// The intent is being written, after the row was read and checked again (D1).
        case claiming
        /// Another living process renews this login; its result is waited for.
        case waitingForOwner
        /// From here until a reply is stored, the refresh token may be spent.
        case sending(RenewalClaim)
        /// No usable reply came; the same token is about to be sent again.
        case pausingBeforeReplay(RenewalClaim)
        /// The doubt, and the replay that is about to be sent, are being written.
        case notingReplay(RenewalClaim)
        /// The app is being asked: for a token, or how to renew.
        case asking(RenewalClaim)
        /// A token of the app is being given to the provider. Nothing of the login's own is spent.
        case exchanging(RenewalClaim)
        /// New tokens are in memory, perhaps in the spool too, and must reach the vault (D2).
        case storing(RenewalClaim, RenewalReply, failures: Int, isSpooled: Bool)
        /// The vault did not take the new tokens; they are being written to the spool. `last`: nothing more is tried
        /// afterwards.
        case spooling(RenewalClaim, RenewalReply, failures: Int, last: RenewalRefusal?)
        /// An outcome without tokens is being written.
        case recording(RenewalClaim, RenewalFailure, failures: Int)
        case ended(Ending)
    }

    enum Event: Equatable, Sendable {
        case started
        /// D1 is durable.
        case claimed(RenewalClaim)
        /// Another caller or process has renewed meanwhile.
        case satisfied
        case refused(RenewalRefusal)
        /// The doubt about the refresh token can no longer be resolved: the login is dead, and that is durable.
        case gaveUp
        case ownedElsewhere
        case pauseEnded
        /// The app agrees to renew the login with its own means.
        case consented
        /// The app has a token for the provider.
        case authTokenGiven
        case replied(RenewalReply)
        /// The write is durable.
        case stored
        /// The row had advanced: another chain, another generation, another fence, or the login is gone. The same
        /// transaction put the tokens, if any, where such tokens belong.
        case superseded
        /// The refresh token was refused, and another one of the same chain has replaced it.
        case otherTokenTaken
        /// The write failed, or is not known to have succeeded.
        case storeFailed
        case spooled
        case spoolFailed
        case closed
        /// Others no longer see this process as alive: it must not write.
        case ownershipLost
    }

    enum Effect: Equatable, Sendable {
        case claim
        case pause(Pause)
        case noteReplay(RenewalClaim)
        case send(RenewalClaim)
        case ask(RenewalClaim)
        case exchange(RenewalClaim)
        case store(RenewalClaim, RenewalReply)
        case spool(RenewalClaim)
        case record(RenewalClaim, RenewalFailure)
        /// The spooled tokens are safe, though not in the vault: waiters may have them.
        case serveSpooled(RenewalClaim)
        case unspool
        case openBreaker
        /// The provider refused one more login's request: too many of them are the client's fault.
        case countRefusal
        case closeBreaker
        case noteRefusedTarget
        case announceRefreshFailed
        /// The user must act at the provider: the app is notified once.
        case announceNeed
        case end(Ending)
    }

    enum Pause: Equatable, Sendable {
        case forOwner
        case beforeReplay
        case beforeStoringAgain(failures: Int)
    }

    enum Ending: Equatable, Sendable {
        case renewed
        /// There was nothing left to do.
        case satisfied
        /// Another change came first; the row has the current state.
        case superseded
        case refused(RenewalRefusal)
        case failed(RenewalFailure)
        /// The new refresh token is safe, but no access token came with it.
        case successorOnly(RenewalReply.Defect)
    }
}
