/// Why a server's metadata cannot be used.
public struct DiscoveryError: Error, Hashable, Sendable, CustomStringConvertible {
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        public let description: String

        public static let unreachable = Code(description: "the server cannot be reached")
        public static let notFound = Code(description: "the server has no metadata document")
        public static let malformed = Code(description: "the metadata document cannot be read")
        /// A server that speaks for another one (RFC 8414 §3.3).
        public static let issuerMismatch = Code(description: "the metadata document names another issuer")
        public static let missingEndpoint = Code(description: "the metadata document lacks an endpoint")
        public static let insecureEndpoint = Code(
            description: "the metadata document names an endpoint that is neither https nor an allowed loopback address"
        )
    }

    public let code: Code
    /// The member of the document that is at fault.
    public let member: String?
    /// For ``Code/unreachable``.
    public let transportError: HTTPTransportError?

    package init(_ code: Code, member: String? = nil, transportError: HTTPTransportError? = nil) {
        self.code = code
        self.member = member
        self.transportError = transportError
    }

    public var description: String {
        let detail = member ?? transportError?.description
        return detail.map { "\(code): \($0)" } ?? code.description
    }
}
