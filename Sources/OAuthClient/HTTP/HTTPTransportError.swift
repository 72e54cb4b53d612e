/// The reason why there is no usable reply, and whether the request may have reached the server.
public struct HTTPTransportError: Error, Hashable, Sendable, CustomStringConvertible {
    /// How far the request may have got.
    public enum Phase: Hashable, Sendable {
        /// No byte of the request was written: nothing can have been spent.
        case notSent
        /// The server may have seen the request.
        case maybeSent
    }

    /// The kind of failure.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private let text: CodeText

        package init(_ name: String, _ words: String) {
            text = CodeText(name: name, words: words)
        }

        /// The name of the code, for instance `timeout`. Stable: for programs and logs.
        public var name: String { text.name }
        public var description: String { name }
        /// The text for people, part of the error's description.
        package var words: String { text.words }

        public static let connect = Code("connect", "the connection was refused or failed")
        public static let dns = Code("dns", "the host name was not found")
        public static let tls = Code("tls", "the TLS handshake failed")
        public static let timeout = Code("timeout", "the time limit was exceeded")
        public static let reset = Code("reset", "the connection was closed")
        /// Its head, or a part of its body, has arrived.
        package static let truncated = Code("truncated", "the connection was closed in the middle of the reply")
        public static let tooLarge = Code("tooLarge", "the reply exceeds a limit")
        public static let cancelled = Code("cancelled", "the request was cancelled")
        public static let protocolViolation = Code("protocolViolation", "the reply is not valid HTTP")
        /// The reply's body has a compression that cannot be decoded.
        public static let undecodable = Code("undecodable", "the reply cannot be decompressed")
        /// The request cannot be sent as it is, for example plain `http` to another machine.
        public static let refused = Code("refused", "the request is not allowed")
        /// The provider requires a client certificate, and the transport cannot present one (RFC 8705).
        public static let noClientCertificate = Code(
            "noClientCertificate", "this transport cannot present the client certificate that the provider requires")
        /// The request could not be signed, by the client's key or the proof's. No transport has seen it.
        public static let unsigned = Code("unsigned", "the request could not be signed")
        /// The egress proxy refused the connection.
        public static let proxy = Code("proxy", "the proxy refused the connection")
    }

    /// The code with this name, if there is one.
    package static func code(named name: String) -> Code? {
        let all: [Code] = [
            .connect, .dns, .tls, .timeout, .reset, .truncated, .tooLarge, .cancelled, .protocolViolation, .undecodable,
            .refused, .unsigned, .noClientCertificate, .proxy,
        ]
        return all.first { $0.name == name }
    }

    public let phase: Phase
    public let code: Code
    /// The part of the reply that arrived, if it includes the head. It may contain tokens. Errors that differ only in
    /// this are equal.
    package let received: HTTPReply?

    public init(_ phase: Phase, _ code: Code) {
        self.init(phase, code, received: nil)
    }

    package init(_ phase: Phase, _ code: Code, received: HTTPReply?) {
        self.phase = phase
        self.code = code
        self.received = received
    }

    public static func == (left: Self, right: Self) -> Bool {
        left.phase == right.phase && left.code == right.code
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(phase)
        hasher.combine(code)
    }

    public var description: String {
        switch phase {
        case .notSent: "\(code.words), nothing was sent"
        case .maybeSent: "\(code.words), the request may have been received"
        }
    }
}
