/// The parameters of a request to the redirect URI (RFC 6749 §4.1.2).
public struct AuthorizationCallback: Sendable {
    /// The answer of the authorization endpoint.
    package enum Answer: Sendable {
        case code(AuthorizationCode)
        case refused(OAuthErrorCode, ServerMessage?)
    }

    public let state: AuthorizationState
    /// Nil if there is neither a code nor an error under the names of RFC 6749.
    package let answer: Answer?
    /// The server that answered (RFC 9207).
    public let issuer: String?
    /// All parameters, decoded. The code is among them.
    package let parameters: [String: String]

    /// - Parameter parameters: Others that the provider has sent.
    package init(
        state: AuthorizationState, code: AuthorizationCode, issuer: String?, parameters: [String: String] = [:]
    ) {
        self.state = state
        answer = .code(code)
        self.issuer = issuer
        self.parameters = parameters
    }
}

extension AuthorizationCallback: CustomStringConvertible, CustomReflectable {
    /// The code and the state are the browser's alone.
    public var description: String { "<callback>" }
    public var customMirror: Mirror { Mirror(self, children: [Mirror.Child](), displayStyle: .struct) }
}
