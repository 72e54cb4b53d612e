public import OAuthClient

/// What the provider sent to the redirect URI at the end of a log-in.
public struct LogInCallback: Sendable {
    enum Content: Sendable {
        case url(String)
        case parameters(state: String, code: AuthorizationCode)
    }

    let content: Content

    /// The URL with its query, as the browser asked for it, or its query alone; nothing decoded. The issuer is checked
    /// if it names one (RFC 9207).
    public static func url(_ url: String) -> Self { Self(content: .url(url)) }

    /// Two parameters of the URL, decoded. The issuer is not checked.
    public static func parameters(state: String, code: AuthorizationCode) -> Self {
        Self(content: .parameters(state: state, code: code))
    }
}
