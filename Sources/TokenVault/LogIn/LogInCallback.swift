public import OAuthClient

/// The provider's message to the redirect URI at the end of a log-in.
public struct LogInCallback: Sendable {
    enum Content: Sendable {
        case url(String)
        case parameters(state: String, code: AuthorizationCode, issuer: String?, others: [String: String])
    }

    let content: Content

    /// The URL with its query, as the browser asked for it, or its query alone; nothing decoded. Of a whole URL, host
    /// and path must be those of the log-in's redirect URI. The issuer is checked if it names one, and required where
    /// the provider promises one (RFC 9207).
    public static func url(_ url: String) -> Self { Self(content: .url(url)) }

    /// Parameters of the URL, decoded.
    ///
    /// - Parameters:
    ///   - state: `state`, as it came.
    ///   - code: `code`, as it came.
    ///   - issuer: `iss` (RFC 9207). It is checked as in ``url(_:)``, so that a provider which promises it does not
    ///     accept a callback without one.
    ///   - others: Further parameters, of which the provider's profile may keep some with the login.
    public static func parameters(
        state: String, code: AuthorizationCode, issuer: String? = nil, others: [String: String] = [:]
    ) -> Self {
        Self(content: .parameters(state: state, code: code, issuer: issuer, others: others))
    }
}

extension LogInCallback: PublicRendering {
    /// The code and the state are the browser's alone.
    var shown: ShownFields { [:] }
}
