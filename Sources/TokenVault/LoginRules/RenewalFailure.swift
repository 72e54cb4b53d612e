/// The result of an attempt that brought no token.
enum RenewalFailure: Equatable, Sendable {
    /// The login is over.
    case dead(RefreshFailure.Reason)
    /// The provider requires the user. The grant lives.
    case needsUser
    /// The provider refuses our client, whatever it asks for. No login is at fault.
    case clientRefused
    /// The provider refuses this login's request, or its stored data cannot be sent. The login rests; others are not
    /// affected.
    case misconfigured
    /// The provider gives no token for the resource or the scope that was asked for. Neither login nor client is at
    /// fault.
    case targetRefused
    /// Temporary. `doubt`: why the refresh token may nevertheless be spent. `isRejection`: a refusal without a
    /// recognized reason.
    case transient(retryAfter: Duration?, doubt: RenewalDoubt.Cause?, isRejection: Bool)
    /// The server has not processed the request: it was not sent, or the server was overloaded.
    case unprocessed(retryAfter: Duration?, doubt: RenewalDoubt.Cause?)
    /// The request may have arrived and no usable reply came. `mayReplay`: the same token may be sent again at once.
    case inDoubt(mayReplay: Bool)
    /// Nothing was sent, because the conditions under which the intent was written no longer certainly held.
    case notSent(Obstacle)
    /// No caller still wants the result, and nothing can have been spent.
    case withdrawn
    /// The app has no token now, or the provider did not accept the app's token: not before ten minutes have passed.
    case postponed

    /// The result of the check right before the request.
    enum Obstacle: Equatable, Sendable {
        /// Too much time has passed since the intent was written.
        case tooLate
        /// The login, its intent or its provider has changed.
        case changed
        /// Others no longer see this process as alive.
        case ownershipLost
        /// The renewal has taken so much time that a reply to another request might come too late.
        case outOfTime
    }
}

extension RenewalFailure {
    /// The app gave no usable token.
    static let nothingUsable = RenewalFailure.transient(retryAfter: nil, doubt: nil, isRejection: false)
}
