/// The reason why a callback was rejected.
public struct AuthorizationCallbackError: Error, Hashable, Sendable, CustomStringConvertible {
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private let text: CodeText

        package init(_ name: String, _ words: String) {
            text = CodeText(name: name, words: words)
        }

        /// The name of the code, for instance `stateMismatch`. Stable: for programs and logs.
        public var name: String { text.name }
        public var description: String { name }
        /// The text for people, part of the error's description.
        package var words: String { text.words }

        public static let malformed = Code("malformed", "the callback URL is malformed")
        public static let repeatedParameter = Code("repeatedParameter", "the callback URL gives a parameter twice")
        public static let missingState = Code("missingState", "the callback URL has no usable state")
        public static let missingAnswer = Code("missingAnswer", "the callback URL has neither a code nor an error")
        public static let stateMismatch = Code("stateMismatch", "the callback answers another request")
        /// RFC 9207: another server answered.
        public static let issuerMismatch = Code(
            "issuerMismatch", "the callback comes from another authorization server")
        /// RFC 9207: a server that promised to send `iss` did not, or another server answered.
        public static let missingIssuer = Code(
            "missingIssuer", "the callback does not say which authorization server it comes from")
        /// The user or the server refused the request.
        public static let refused = Code("refused", "the authorization server refused the request")
    }

    public let code: Code
    /// The server's error, for ``Code/refused``. For ``Code/missingIssuer``, the error in the callback, which may be
    /// forged.
    public let error: OAuthErrorCode?
    /// The server's description of ``error``.
    public let errorDescription: ServerMessage?

    package init(_ code: Code, error: OAuthErrorCode? = nil, errorDescription: ServerMessage? = nil) {
        self.code = code
        self.error = error
        self.errorDescription = errorDescription
    }

    /// Names the server's error only if it is a registered one; other codes can contain anything.
    public var description: String {
        guard code == .refused, let error, error.isRegistered else { return code.words }
        return "\(code.words): \(error)"
    }
}
