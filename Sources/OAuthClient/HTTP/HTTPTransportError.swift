/// Why no usable reply came, and whether the request may have reached the server.
public struct HTTPTransportError: Error, Hashable, Sendable, CustomStringConvertible {
    /// How far the request can have come.
    public enum Phase: Hashable, Sendable {
        /// No byte of the request was written: nothing can have been spent.
        case notSent
        /// The server may have seen the request.
        case maybeSent
    }

    /// What happened.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        public let description: String

        public static let connect = Code(description: "the connection was refused or failed")
        public static let dns = Code(description: "the host name was not found")
        public static let tls = Code(description: "the TLS handshake failed")
        public static let timeout = Code(description: "the time limit is over")
        public static let reset = Code(description: "the connection was closed")
        public static let tooLarge = Code(description: "the reply exceeds a limit")
        public static let cancelled = Code(description: "the request was cancelled")
        public static let protocolViolation = Code(description: "the reply is not valid HTTP")
        /// The request cannot be sent as it is, for example plain `http` to another machine.
        public static let refused = Code(description: "the request is not allowed")
    }

    public let phase: Phase
    public let code: Code
    /// What of the reply had come, if its head had. It may hold tokens. Errors that differ in it alone are equal.
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
        case .notSent: "\(code), nothing was sent"
        case .maybeSent: "\(code), the request may have been received"
        }
    }
}
