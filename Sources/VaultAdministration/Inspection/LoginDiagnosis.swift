package import FoundationEssentials
package import TokenVault

/// The condition of a login, for an operator: current activity, and the next step.
package struct LoginDiagnosis: Sendable, Equatable {
    package let login: Login
    /// The renewal that was begun and is not finished, if there is one.
    package let renewal: OpenRenewal?
    package let nextStep: NextStep

    /// The next step for a login, and who must take it.
    package enum NextStep: Sendable, Equatable {
        /// Nothing blocks it: it is renewed when a call needs it.
        case renewWhenNeeded
        /// Its access token is used until it expires; only the app can renew it.
        case appSuppliesToken
        /// A renewal is in progress.
        case waitForRenewal
        /// A living process has held the renewal for longer than it can take. Find out what stopped it, or take over.
        case takeOverStalled
        /// The renewing process has ended. Any manager takes over at once.
        case recover
        /// The same refresh token is sent again, not before this time.
        case sendAgain(notBefore: Date?)
        /// The same refresh token must not be sent again: the access token is used until this time, then the login
        /// ends.
        case useToken(until: Date?)
        /// A backoff, or a pause that the server requested, has not ended yet.
        case wait(until: Date)
        /// The provider refuses this client: repair its registration.
        case mendClient
        /// The login is dead: a new access token, or a new log-in.
        case setTokenOrLogIn
        /// The provider requires the user to act: a new log-in.
        case userMustAct
        /// The login was ended: a new log-in.
        case logIn
        /// The user is disabled: enable the user first, then a new log-in.
        case enableUser
        /// The vault was restored: accept the restore first.
        case acceptRestore
        /// The system from which the login was imported renews it: accept the import once it no longer does.
        case acceptImport
    }
}
