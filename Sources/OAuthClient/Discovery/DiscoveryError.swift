/// The reason why a server's metadata cannot be used.
public struct DiscoveryError: Error, Hashable, Sendable, CustomStringConvertible {
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private let text: CodeText

        package init(_ name: String, _ words: String) {
            text = CodeText(name: name, words: words)
        }

        /// The name of the code, for instance `notFound`. Stable: for programs and logs.
        public var name: String { text.name }
        public var description: String { name }
        /// The text for people, part of the error's description.
        package var words: String { text.words }

        public static let unreachable = Code("unreachable", "the server cannot be reached")
        /// The server was reached but reported a failure.
        public static let serverError = Code("serverError", "the server cannot answer now")
        public static let tooLarge = Code("tooLarge", "the server's reply is too long for a metadata document")
        public static let notFound = Code("notFound", "the server has no metadata document")
        public static let malformed = Code("malformed", "the metadata document cannot be read")
        /// A server that speaks for another one (RFC 8414 §3.3).
        public static let issuerMismatch = Code("issuerMismatch", "the metadata document names another issuer")
        public static let missingEndpoint = Code("missingEndpoint", "the metadata document lacks an endpoint")
        public static let insecureEndpoint = Code(
            "insecureEndpoint",
            "the metadata document names an endpoint that is neither https nor an allowed loopback address")
    }

    public let code: Code
    /// The faulty member of the document.
    public let member: String?
    /// For ``Code/unreachable``, ``Code/tooLarge``, and ``Code/malformed`` where the reply itself cannot be read.
    public let transportError: HTTPTransportError?
    /// The issuer that the document names, for ``Code/issuerMismatch``, or the origin of the endpoint, for
    /// ``Code/insecureEndpoint``: untrusted text, printable and at most 200 characters.
    public let named: String?
    /// The status of the server's reply, for ``Code/serverError`` and where there is no document.
    public let status: Int?
    /// What came in place of a document, as a whole sentence.
    let finding: String?

    package init(
        _ code: Code, member: String? = nil, transportError: HTTPTransportError? = nil, status: Int? = nil,
        named: String? = nil, finding: String? = nil
    ) {
        self.code = code
        self.member = member
        self.transportError = transportError
        self.status = status
        self.finding = finding
        self.named = named.map { text in
            String(decoding: text.utf8.prefix(200).filter { (0x21...0x7E).contains($0) }, as: UTF8.self)
        }
    }

    /// Whether another location may still have a document. An invalid document is final.
    var isAboutPlace: Bool {
        switch code {
        case .notFound, .serverError, .tooLarge: true
        case .malformed: member == nil
        default: false
        }
    }

    /// Whether the server was reached, and did not answer in time.
    package var isUnanswered: Bool { transportError == HTTPTransportError(.maybeSent, .timeout) }

    public var description: String {
        if let finding { return finding }
        if isUnanswered { return "the server did not answer in time" }
        let detail =
            code == .tooLarge
            ? nil
            : member.map { member in named.map { "\(member), at \($0)" } ?? member } ?? named
                ?? transportError?.description ?? status.map { "HTTP \($0)" }
        return detail.map { "\(code.words): \($0)" } ?? code.words
    }
}
