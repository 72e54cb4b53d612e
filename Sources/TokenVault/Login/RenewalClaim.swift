import VaultStorage

/// What a durable intent entitles its holder to: one attempt to renew one link of one chain.
///
/// It holds no token. The refresh token is read in the transaction that writes the intent and is forgotten with the
/// attempt, so that no copy can go stale between two renewals.
struct RenewalClaim: Equatable, Sendable {
    enum Method: Equatable, Sendable {
        /// The refresh grant: a token that may work only once travels to the provider.
        case grant
        /// The app's ``TokenRefreshHandler``: asking it twice harms nothing.
        case handler
        /// The app's ``SessionHandler``, which says by what to renew.
        case session
    }

    let position: ChainPosition
    /// Identifies this attempt for ever; every later write is conditional on it.
    let fence: Int64
    let method: Method
    /// What the access token is asked for.
    var target = TokenTarget.own
    /// An earlier request with this refresh token may have reached the server, and no usable reply came.
    var isInDoubt: Bool
    /// When the first of them was about to be sent; nil if it was sent under this claim.
    var doubtSince: Timestamp?
    /// How often this refresh token has been sent, with the request that is about to be sent. None while the app is asked.
    var tries = 1
}

/// What came of an attempt that brought no token.
enum RenewalVerdict: Equatable, Sendable {
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
    /// Nothing was sent, because what was true when the intent was written was not certain any more.
    case notSent(Hindrance)
    /// Nobody wants the result any more, and nothing can have been spent.
    case withdrawn
    /// The app has no token now, or the provider did not take the one that it had: not before ten minutes have passed.
    case postponed

    /// What was found in the look right before the request.
    enum Hindrance: Equatable, Sendable {
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

/// What an attempt brought, without the tokens themselves.
enum RenewalReply: Equatable, Sendable {
    case tokens
    /// A new refresh token, and no access token that may be used.
    case successorOnly(Defect)
    case verdict(RenewalVerdict)

    enum Defect: Equatable, Sendable {
        /// Row 19a of `docs/token-outcomes.md`: redeem the new refresh token at once, once.
        case accessTokenMissing
        /// Row 20: the token is not bound as it must be. Asking again would bring the same.
        case downgraded
    }
}

/// Why no attempt was made.
enum RenewalRefusal: Equatable, Sendable {
    case loginMissing
    case terminated
    case userDisabled
    case held
    case dead(RefreshFailure.Reason)
    case needsUser
    case notRefreshable
    case postponed(until: Timestamp)
    case providerMissing
    case breakerOpen(until: Timestamp)
    /// The provider gave no token for this resource or scope a moment ago.
    case targetRefused
    /// The refresh token may be spent and must not be sent again. The access token is good until then; nil: for as long as
    /// resource servers take it.
    case mayNotSendAgain(until: Timestamp?)
    case ownerStalled
    case ownershipLost
    case closed
    /// The store did not take the intent: nothing was sent.
    case storeFailed
    /// Another process has held the vault's write lock for too long: nothing was sent.
    case storeBusy
    /// There is no room for the intent, or for the reply: nothing was sent.
    case storageFull
    /// The vault cannot be written here.
    case readOnly
    /// What the store holds of the login or its provider is damaged, or of a former time: nothing was sent.
    case notBelieved(StoreError)
}
