import OAuthClient
import VaultStorage

extension VaultError {
    /// Why no renewal was tried.
    init(_ refusal: RenewalRefusal, now: Timestamp) {
        switch refusal {
        case .loginMissing:
            self.init(StoreError.notFound(.login))
        case .terminated:
            self.init(.notLoggedIn, "the login was ended", hint: "let the user log in again")
        case .userDisabled:
            self.init(.userDisabled, "the user is disabled")
        case .held:
            self.init(
                .held, "the vault was restored from a backup and this login is held",
                hint: "accept the restore, or let the user log in again")
        case .dead(let reason):
            self.init(dead: reason)
        case .needsUser:
            self.init(.needsUserInteraction, "the provider wants the user to act", hint: "let the user log in again")
        case .notRefreshable:
            self.init(
                .notRefreshable, "the access token has expired and there is nothing to renew it with",
                hint: "set a new access token, or let the user log in again")
        case .postponed(let until):
            self.init(
                .tryLater, "the last renewal did not succeed and the next may not be tried yet",
                retryAfter: max(.zero, until.since(now)))
        case .providerMissing:
            self.init(.unknownProvider, "the login's provider is not in the vault")
        case .breakerOpen(let until):
            self.init(
                .providerMisconfigured, "the provider refused this client and is not asked again yet",
                hint: Self.registrationHint, retryAfter: max(.zero, until.since(now)))
        case .targetRefused:
            self.init(
                .resourceRefused, "the provider gives no token for this resource or scope",
                hint: Self.resourceHint)
        case .mayNotSendAgain:
            self.init(
                .lostResponse,
                "a reply of the provider was lost, and sending the refresh token again could end the user's other logins",
                hint: "the access token is good until it expires; then let the user log in again")
        case .ownershipLost:
            self.init(StoreError(.ownershipLost, Self.ownershipSentence, hint: Self.ownershipHint))
        case .ownerStalled:
            self.init(
                .refreshStalled, "another process has begun this renewal and does not finish it",
                hint: "look for a stopped process that uses the vault, end it, or take the renewal over")
        case .closed:
            self.init(.closed, "the vault is closed")
        case .storageFull:
            self.init(
                .storageFull, "there is too little free space for new tokens, so nothing was sent",
                hint: "make room on the disk of the vault")
        case .readOnly:
            self.init(
                .readOnly, "the vault can be read here, and not changed, so nothing was sent",
                hint: "check that the file system and the vault's directory can be written")
        case .notBelieved(let error):
            self.init(error)
        case .storeBusy:
            self.init(
                .busy, "another process has held the vault for too long, so nothing was sent",
                hint: "try again; find the process that holds the vault if it lasts", retryAfter: .seconds(1))
        case .storeFailed:
            self.init(.storageFailed, "the renewal could not be noted in the vault, so nothing was sent")
        }
    }

    private init(dead reason: RefreshFailure.Reason) {
        let hint = "set a new access token, or let the user log in again"
        switch reason {
        case .lostResponse:
            self.init(
                .lostResponse, "a reply of the provider was lost, and with it the login's next refresh token",
                hint: hint)
        case .unclassifiedRejection:
            self.init(.refreshFailed, "the provider has refused renewals for a day without a reason", hint: hint)
        case .keyMismatch:
            self.init(
                .refreshFailed, "the provider has refused the proofs of this login's key for a day",
                hint: "look at this machine's clock and the provider's DPoP settings; then let the user log in again")
        case .refusedByHandler:
            self.init(.refreshFailed, "the app said that this login can no longer be renewed", hint: hint)
        default:
            self.init(.refreshFailed, "the provider ended this login", hint: hint)
        }
    }

    private static let ownershipSentence =
        "other processes no longer see this one as alive, so nothing may be sent from here"
    private static let ownershipHint =
        "open the vault after a fork, and do not close descriptors that others have opened; start this process anew"
    private static let resourceHint = "compare the resource and the scope with what the user granted"
    private static let registrationHint = "check the client id, its secret and the endpoints of the provider"

    /// Why a renewal gave nothing that the caller can use, with what the provider said.
    init(_ ending: RenewalMachine.Ending, current: SessionSnapshot, now: Timestamp) {
        let error = VaultError(of: ending, current: current, now: now)
        let answer = if case .failed = ending { current.session.lastRefusal } else { nil as RefusalRecord? }
        self.init(
            error.code, error.message, hint: error.hint, logins: error.logins, retryAfter: error.retryAfter,
            answer: answer.map { ProviderAnswer($0) })
    }

    private init(of ending: RenewalMachine.Ending, current: SessionSnapshot, now: Timestamp) {
        let retryAfter = current.session.notBefore.map { max(.zero, $0.since(now)) }
        switch ending {
        case .refused(let refusal):
            self.init(refusal, now: now)
        case .failed(.dead(let reason)):
            // What is stored counts: a refusal may mean more there than by itself.
            let failure = current.session.failure.flatMap { $0.isFinal ? RefreshFailure.Reason(code: $0.reason) : nil }
            self.init(dead: failure ?? reason)
        case .failed(.needsUser):
            self.init(RenewalRefusal.needsUser, now: now)
        case .failed(.clientRefused):
            self.init(.providerMisconfigured, "the provider refused this client", hint: Self.registrationHint)
        case .failed(.misconfigured):
            self.init(
                .providerMisconfigured, "the provider refused what was asked for this login",
                hint: Self.registrationHint, retryAfter: retryAfter)
        case .failed(.targetRefused):
            self.init(RenewalRefusal.targetRefused, now: now)
        case .failed(.transient), .failed(.unprocessed):
            self.init(.tryLater, "the renewal did not succeed this time", retryAfter: retryAfter)
        case .failed(.inDoubt):
            self.init(
                .tryLater, "no usable reply came; the provider may or may not have renewed",
                retryAfter: retryAfter)
        case .failed(.notSent(.ownershipLost)):
            self.init(RenewalRefusal.ownershipLost, now: now)
        case .failed(.notSent(.tooLate)):
            self.init(
                .tryLater, "this process was too slow to send the renewal safely, again and again",
                hint: "look at the load of this machine")
        case .failed(.notSent(.outOfTime)):
            self.init(.tryLater, "the provider was too slow for the renewal to end in its time", retryAfter: retryAfter)
        case .failed(.postponed):
            self.init(.tryLater, "there is no token for a renewal now", retryAfter: retryAfter)
        case .failed(.withdrawn), .failed(.notSent(.changed)):
            self.init(.conflict, "the renewal was overtaken by another change")
        case .successorOnly:
            self.init(
                .protocolViolation, "the provider's reply has no access token that may be used", retryAfter: retryAfter)
        case .renewed:
            self.init(
                .tryLater, "the provider's new access token is not valid for long enough", retryAfter: retryAfter)
        case .satisfied, .superseded:
            let obstacle = RenewalRefusal(
                session: current.session, userStatus: current.userStatus, isHeld: current.isHeld, now: now)
            if let obstacle {
                self.init(obstacle, now: now)
            } else {
                self.init(.conflict, "the login is being changed too often")
            }
        }
    }
}
