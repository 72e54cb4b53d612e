/// The reason why a token request brought no usable answer.
public struct OAuthFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of failure, which says how to react.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private let text: CodeText

        package init(_ name: String, _ words: String) {
            text = CodeText(name: name, words: words)
        }

        /// The name of the code, for instance `tryLater`. Stable: for programs and logs.
        public var name: String { text.name }
        public var description: String { name }
        /// The text for people, part of the error's description.
        package var words: String { text.words }

        /// Nothing was sent: the token is untouched, try again.
        public static let notSent = Code("notSent", "the request was not sent")
        /// The server cannot answer now: try again later.
        public static let tryLater = Code("tryLater", "the server cannot answer now")
        /// The request may have been received and the token spent.
        public static let inDoubt = Code("inDoubt", "the reply was lost or unusable, so the token may be spent")
        /// Tokens arrived, but not as required: only ``OAuthFailure/refreshToken`` may be used.
        public static let unusableTokens = Code("unusableTokens", "the reply's access token cannot be used")
        /// The server has no endpoint for this.
        public static let unsupported = Code("unsupported", "the server does not offer this")
    }

    public let code: Code
    /// The earliest time for a retry, if the server named one.
    public let retryAfter: Duration?
    /// The refresh token that replaces the one sent, although no usable access token came with it.
    public let refreshToken: RefreshToken?

    package init(_ code: Code, retryAfter: Duration? = nil, refreshToken: RefreshToken? = nil) {
        self.code = code
        self.retryAfter = retryAfter
        self.refreshToken = refreshToken
    }

    public var description: String { code.words }
}
