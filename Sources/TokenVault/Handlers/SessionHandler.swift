/// Decides, each time that an access token must be renewed, whether and how to renew it.
///
/// ```swift
/// struct Renewals: SessionHandler {
///     func sessionWillRenewAccessToken(_ renewal: AccessTokenRenewal) async {
///         do {
///             try await renewal.renewWithAuthToken(ourServer.authToken(for: renewal.userId))
///         } catch {
///             try? await renewal.unableToRetrieveAuthToken()
///         }
///     }
/// }
/// ```
///
/// It is asked once for any number of waiting callers, in one process at a time: ahead of expiry and after it, also for
/// logins that have a refresh token. It is not asked
/// - for a login that is dead or ended, before the time that ``AccessTokenRenewal/unableToRetrieveAuthToken()`` or a
///   backoff has set, or while the provider refuses this client;
/// - for tokens of single resources (RFC 8707);
/// - when an earlier renewal is in doubt: that is settled first, by sending the same refresh token again.
///
/// Where there is a ``TokenRefreshHandler`` too, this one is asked first. ``AccessTokenRenewal/renew()`` then means the
/// refresh grant for a login with a refresh token, and the ``TokenRefreshHandler`` for one without.
///
/// The method may return at once and answer later, from anywhere. Its callers wait for the answer, within their
/// deadlines.
/// - No answer within ``UserManagerOptions/handlerTimeLimit``, or an ``AccessTokenRenewal`` that is let go without one,
///   counts as a transient failure: it is asked again after a backoff.
/// - Its task is cancelled when the renewal has become void, and when the vault is closed.
/// - From within, every method of ``UserManager`` may be called. One that would wait for the renewal in question throws
///   ``VaultError/Code/conflict`` as long as that is not answered; a new token or a log-out makes the renewal void.
public protocol SessionHandler: Sendable {
    /// A session's access token must be renewed. Answer by one call on `renewal`.
    func sessionWillRenewAccessToken(_ renewal: AccessTokenRenewal) async
}
