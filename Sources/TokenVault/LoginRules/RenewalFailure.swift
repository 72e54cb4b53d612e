/// What came of an attempt that brought no token.
enum RenewalFailure: Equatable, Sendable {
    /// The login is over.
    case dead(RefreshFailure.Reason)
    /// The provider wants the user. The grant lives.
    case needsUser
    /// The provider refuses our client, whatever it asks for. No login is at fault.
    case clientRefused
    /// The provider refuses what this login asked for, or what is stored of it cannot be sent. It rests; others go on.
    case misconfigured
    /// The provider gives no token for the resource or the scope that was asked for. Neither login nor client is at fault.
    case targetRefused
    /// Not now. `keepsDoubt`: the refresh token may nevertheless be spent. `isRejection`: a refusal that says nothing.
    case transient(retryAfter: Duration?, keepsDoubt: Bool, isRejection: Bool)
    /// The server has not looked at the request: it was not sent, or the server was overloaded.
    case unprocessed(retryAfter: Duration?, keepsDoubt: Bool)
    /// The request may have arrived and no usable reply came. `mayReplay`: the same token may be sent again at once.
    case inDoubt(mayReplay: Bool)
    /// Nothing was sent, because what was true when the intent was written was no longer certain.
    case notSent(Obstacle)
    /// No caller still wants the result, and nothing can have been spent.
    case withdrawn
    /// The app has no token now, or the provider did not take the one that it had: not before ten minutes have passed.
    case postponed

    /// What was found in the look right before the request.
    enum Obstacle: Equatable, Sendable {
        /// Too much time has passed since the intent was written.
        case tooLate
        /// The login, its intent or its provider is not as it was.
        case changed
        /// Others no longer see this process as alive.
        case ownershipLost
        /// The renewal has taken so long that a reply to another request might not come in its time.
        case outOfTime
    }
}

extension RenewalFailure {
    /// The app had nothing that can be used.
    static let nothingUsable = RenewalFailure.transient(retryAfter: nil, keepsDoubt: false, isRejection: false)
}
