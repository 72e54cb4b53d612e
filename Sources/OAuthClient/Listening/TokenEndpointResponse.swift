public import FoundationEssentials
public import HTTPTypes

/// One exchange with a token or revocation endpoint, as a ``TokenEndpointResponseListener`` sees it.
public struct TokenEndpointResponse: Sendable {
    /// The purpose of the exchange. An open set.
    public struct Operation: Hashable, Sendable, CustomStringConvertible {
        public let description: String

        package init(_ description: String) { self.description = description }

        /// Tokens for an authorization code or for the client's own credentials.
        public static let fetch = Operation("fetch")
        /// Tokens for a refresh token.
        public static let refresh = Operation("refresh")
        /// The revocation of a token.
        public static let revoke = Operation("revoke")
    }

    /// The result of the exchange.
    public enum Ending: Sendable {
        /// A reply arrived, successful or not: its raw status and header fields.
        case reply(HTTPResponse)
        case failure(HTTPTransportError)
    }

    public let operation: Operation
    /// Scheme, host and path of the endpoint.
    public let endpoint: String
    public let ending: Ending
    /// In bytes; zero without a reply.
    public let bodyLength: Int
    /// The reply's body, including tokens. Nil unless the owner explicitly requested secret bodies.
    public let secretBody: [UInt8]?
    public let startedAt: Date
    public let duration: Duration
    /// The number of responses dropped just before this one because the listener had fallen behind.
    public internal(set) var leftOutBefore = 0

    /// The raw status; nil without a reply.
    public var status: Int? { if case .reply(let response) = ending { response.status.code } else { nil } }
    /// The raw header fields; empty without a reply.
    public var headerFields: HTTPFields { if case .reply(let response) = ending { response.headerFields } else { [:] } }
}

extension TokenEndpointResponse: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String {
        switch ending {
        case .reply(let response): "\(operation): HTTP \(response.status.code), \(bodyLength) bytes"
        case .failure(let error): "\(operation): \(error)"
        }
    }
    public var debugDescription: String { description }
    public var customMirror: Mirror {
        Mirror(self, children: ["operation": operation.description, "bytes": bodyLength], displayStyle: .struct)
    }
}
