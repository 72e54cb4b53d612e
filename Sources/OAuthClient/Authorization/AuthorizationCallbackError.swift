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
