/// The current phase of a ``SessionState``. Read, not streamed: see ``UserManager/sessionPhase(of:)``.
package enum SessionPhase: String, Sendable, CaseIterable {
    // Of `established`.

    /// Nothing to do yet.
    case fresh
    /// The access token expires within the time of ``SessionEvent/Kind/willExpire(at:)``.
    case expiring
    /// A renewal is under way, here or in another process.
    case refreshing
    /// A renewal may have reached the provider, and no usable reply came.
    case inDoubt
    /// No renewal is tried before some time: a backoff, the provider's wish, or the app's.
    case postponed

    // Of `tokenExpired`: `postponed`, `inDoubt` and `refreshing` as well.

    /// The next call renews.
    case retrying
    /// The login is dead.
    case refreshFailed
}
