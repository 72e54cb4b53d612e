/// The parameters of a request to the redirect URI (RFC 6749 §4.1.2).
public struct AuthorizationCallback: Sendable {
    /// The answer of the authorization endpoint.
    public enum Answer: Sendable {
        case code(AuthorizationCode)
        case refused(OAuthErrorCode, ServerMessage?)
    }

    public let state: AuthorizationState
    public let answer: Answer
    /// The server that answered (RFC 9207).
    public let issuer: String?

    package init(state: AuthorizationState, code: AuthorizationCode, issuer: String?) {
        self.state = state
        answer = .code(code)
        self.issuer = issuer
    }
}
