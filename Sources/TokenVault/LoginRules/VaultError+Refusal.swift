import OAuthClient
import VaultStorage

extension VaultError {
    /// The error for a renewal that was not tried.
    init(_ refusal: RenewalRefusal, now: Timestamp) {
        switch refusal {
        case .loginMissing:
            self.init(StoreError.notFound(.login))
        case .terminated:
            self.init(.notLoggedIn, "the login was ended", hint: "let the user log in again")
        case .userDisabled:
            self.init(.userDisabled, "the user is disabled", hint: "enableUser lets the user log in again")
        case .held:
            self.init(
                .held,
                "this login is held: the vault was restored, an older state of it was accepted, or its database server "
                    + "has failed over",
                hint: "let the user log in again; or accept the restore: vaultctl restore accept")
        case .heldBySource(let isTokenRejected): self = isTokenRejected ? .heldAfterRejection : .heldBySource
        case .dead(let reason):
            self.init(dead: reason)
        case .needsUser:
            self.init(.needsUserInteraction, "the provider wants the user to act", hint: "let the user log in again")
        case .notRefreshable:
            self.init(
                .notRefreshable, "there is nothing with which the access token could be renewed",
                hint: "set a new access token, or let the user log in again")
        case .postponed(let until):
            self.init(
                .tryLater, "the last renewal did not succeed and the next may not be tried yet",
                retryAfter: max(.zero, until.since(now)))
        case .providerMissing:
            self.init(
                .unknownProvider, "the login's provider is not in the vault",
                hint: "add the provider again under its name, and let the user log in again")
        case .breakerOpen(let until):
            self.init(
                .providerMisconfigured, "the provider refused this client and is not asked again yet",
                hint: Self.registrationHint, retryAfter: max(.zero, until.since(now)))
        case .providerStopped(let until):
            self.init(
                .tryLater,
                "the provider has ended many logins in a row, so this one waits until one is renewed again",
                hint: "see vaultctl doctor; if it ends them for good reason, run: vaultctl provider accept-deaths NAME",
                retryAfter: max(.zero, until.since(now)))
        case .targetRefused:
            self.init(
                .resourceRefused, "the provider gives no token for this resource or scope",
                hint: Self.resourceHint)
        case .mayNotSendAgain:
            self.init(
                .lostResponse,
                "a reply of the provider was lost or unusable, and sending the refresh token again could end the user's "
                    + "other logins",
                hint: "the access token is good until it expires; then let the user log in again")
        case .ownershipLost:
            self.init(StoreError.ownershipLost)
        case .ownerStalled:
            self.init(
                .refreshStalled, "another process has begun this renewal and does not finish it",
                hint: "look for a stopped process that uses the vault, end it, or take the renewal over")
        case .closed:
            self.init(StoreError.closed)
        case .storageFull:
            self.init(
                .storageFull, "there is too little free space for new tokens, so nothing was sent",
                hint: "make room on the disk of the vault")
        case .readOnly(let error):
            self.init(
                .readOnly, (error?.message ?? "the vault can be read here, and not changed") + ", so nothing was sent",
                hint: error?.hint ?? "check that the file system and the vault's directory can be written")
        case .notBelieved(let error):
            self.init(error)
        case .storeBusy(let error):
            self.init(
                .busy, (error?.message ?? "another process has held the vault for too long") + ", so nothing was sent",
                hint: error?.hint ?? "try again; find the process that holds the vault if it lasts",
                retryAfter: .seconds(1))
        case .storeFailed:
            self.init(.storageFailed, "the renewal could not be recorded in the vault, so nothing was sent")
        }
    }

    init(dead reason: RefreshFailure.Reason) {
        let hint = "set a new access token, or let the user log in again"
        switch reason {
        case .lostResponse:
            self.init(
                .lostResponse,
                "a reply of the provider was lost or unusable, and with it the login's next refresh token", hint: hint)
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

    static let heldBySource = VaultError(
        .heldBySource,
        "this login is not renewed here: another system, from which it was imported or to which it was exported, renews it",
        hint: acceptHint)

    /// The access token was sent to the API, which did not take it.
    private static let heldAfterRejection = VaultError(
        .heldBySource,
        "an API refused the access token, and another system, from which this login was imported or to which it was "
            + "exported, renews it",
        hint: acceptHint)

    private static let acceptHint = "see which system renews it, and what to do: vaultctl login show LOGIN"

    private static let resourceHint = "compare the resource and the scope with what the user granted"
    static let registrationHint = "check the client id, its secret and the endpoints of the provider"
}
