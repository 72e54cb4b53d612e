import VaultStorage

/// The right, backed by a durable intent, to one attempt to renew one link of one chain.
///
/// It holds no token. The refresh token is read in the transaction that writes the intent and is forgotten with the
/// attempt, so that no copy can go stale between two renewals.
package struct RenewalClaim: Equatable, Sendable {
    package enum Method: Equatable, Sendable {
        /// The refresh grant: a token that may work only once travels to the provider.
        case grant
        /// The app's ``TokenRefreshHandler``: asking it twice harms nothing.
        case handler
        /// The app's ``SessionHandler``, which decides how to renew.
        case session
    }

    let position: ChainPosition
    /// Identifies this attempt permanently; every later write is conditional on it.
    let fence: Int64
    let method: Method
    /// The target of the requested access token.
    var target = TokenTarget.own
    /// An earlier request with this refresh token may have reached the server, and no usable reply came.
    var isInDoubt: Bool
    /// When the first of them was about to be sent; nil if it was sent under this claim.
    var doubtSince: Timestamp?
    /// How often this refresh token has been sent, including the request that is about to be sent. Zero while the app
    /// is asked.
    var tries = 1
}
