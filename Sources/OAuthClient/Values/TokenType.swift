/// How an access token is presented to a resource server (RFC 6749 §7.1). Case-insensitive (§5.1).
public struct TokenType: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Lower case.
    public let rawValue: String

    public init(_ rawValue: String) {
        // The registered and usual spellings are checked first: every read of a stored token calls this.
        self.rawValue =
            switch rawValue {
            case "Bearer": "bearer"
            case "DPoP": "dpop"
            default: rawValue.lowercased()
            }
    }

    /// RFC 6750.
    public static let bearer = TokenType("bearer")
    /// RFC 9449: bound to a key.
    public static let dpop = TokenType("dpop")

    /// The spelling for an `Authorization` header; an unknown type from a reply is not repeated.
    public var description: String {
        switch self {
        case .bearer: "Bearer"
        case .dpop: "DPoP"
        default: "unknown"
        }
    }

    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: [Mirror.Child](), displayStyle: .struct) }
}
