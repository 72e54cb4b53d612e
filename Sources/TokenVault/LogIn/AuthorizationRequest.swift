public import FoundationEssentials
public import OAuthClient

/// A log-in that has begun: put ``binding`` into a cookie, and send the user's browser to ``url``. What is needed to finish
/// the log-in lies sealed in the vault, so that any process may.
public struct AuthorizationRequest: Sendable, Equatable {
    /// Where the user's browser must go.
    public let url: String
    /// Comes back with the callback, and names this request.
    public let state: String
    /// For a cookie of the browser that begins: `HttpOnly`, `Secure`, `SameSite=Lax`, until ``expiresAt``. With it, and with
    /// nothing else, ``UserManager/completeLogIn(_:boundTo:expectedUserId:)`` knows that browser again.
    public let binding: BrowserBinding
    /// The provider takes the URL until then. Sooner than ``expiresAt`` where the request was pushed (RFC 9126 §2.2).
    public let urlExpiresAt: Date
    /// After this time the request can no longer be completed.
    public let expiresAt: Date
}
