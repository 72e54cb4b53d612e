/// What came back to the redirect URI (RFC 6749 §4.1.2).
public struct AuthorizationCallback: Sendable {
    /// The answer of the authorization endpoint.
    public enum Answer: Sendable {
        case code(AuthorizationCode)
        case refused(OAuthErrorCode, ServerMessage?)
    }

    public let state: AuthorizationState
    public let answer: Answer
    /// Who answered (RFC 9207).
    public let issuer: String?
}

/// Why a callback is not taken.
public struct AuthorizationCallbackError: Error, Hashable, Sendable, CustomStringConvertible {
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        public let description: String

        public static let malformed = Code(description: "the callback URL is malformed")
        public static let repeatedParameter = Code(description: "the callback URL gives a parameter twice")
        public static let missingState = Code(description: "the callback URL has no usable state")
        public static let missingAnswer = Code(description: "the callback URL has neither a code nor an error")
        public static let stateMismatch = Code(description: "the callback answers another request")
        /// RFC 9207: another server answered, or one that promised to name itself did not.
        public static let issuerMismatch = Code(description: "the callback comes from another authorization server")
        /// The user or the server said no.
        public static let refused = Code(description: "the authorization server refused the request")
    }

    public let code: Code
    /// For ``Code/refused``.
    public let error: OAuthErrorCode?
    /// For ``Code/refused``.
    public let errorDescription: ServerMessage?

    package init(_ code: Code, error: OAuthErrorCode? = nil, errorDescription: ServerMessage? = nil) {
        self.code = code
        self.error = error
        self.errorDescription = errorDescription
    }

    public var description: String { error.map { "\(code): \($0)" } ?? code.description }
}

extension AuthorizationCallback {
    /// Reads a callback URL, or its query alone.
    public init(parsing text: String) throws(AuthorizationCallbackError) {
        throw AuthorizationCallbackError(.malformed)
    }

    /// The code, if this callback answers the request with `expectedState` and comes from `issuer`.
    ///
    /// - Parameter issuer: nil if it is not known; then `iss` is not compared.
    /// - Parameter issuerIsRequired: whether the server's metadata promises `iss` (RFC 9207 §3).
    public func code(
        expectedState: AuthorizationState, issuer: Issuer?, issuerIsRequired: Bool = false
    ) throws(AuthorizationCallbackError) -> AuthorizationCode {
        throw AuthorizationCallbackError(.malformed)
    }
}
