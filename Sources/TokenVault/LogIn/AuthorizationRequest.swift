public import FoundationEssentials
public import OAuthClient

/// A log-in that has begun: put ``binding`` into a cookie, and send the user's browser to ``url``. The rest of the
/// log-in's data is sealed in the vault, so that any process can complete it.
public struct AuthorizationRequest: Sendable, Equatable {
    /// Where the user's browser must go.
    public let url: String
    /// Returned with the callback; identifies this request.
    public let state: String
    /// For a cookie of the browser that begins: `HttpOnly`, `Secure`, `SameSite=Lax`, until ``expiresAt``. With it, and
    /// with nothing else, ``UserManager/completeLogIn(_:boundTo:expectedUserId:of:)`` knows that browser again.
    public let binding: BrowserBinding
    /// The provider accepts the URL until then. Sooner than ``expiresAt`` where the request was pushed (RFC 9126 §2.2).
    public let urlExpiresAt: Date
    /// After this time the request can no longer be completed.
    public let expiresAt: Date
    /// Where the provider sends the browser; nil: where it is registered. For test doubles of a provider.
    package let redirectURI: String?
    /// The name that the provider puts into its callbacks (RFC 9207); nil: none.
    package let issuer: String?
}

extension AuthorizationRequest: PublicRendering {
    var shown: ShownFields {
        [
            "url": ShownFields.withoutQuery(url), "binding": binding, "urlExpiresAt": urlExpiresAt,
            "expiresAt": expiresAt,
        ]
    }
}
