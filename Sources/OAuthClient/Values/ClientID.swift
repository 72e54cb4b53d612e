/// The identifier of a registered client (RFC 6749 §2.2, Appendix A.1). Not a secret.
public struct ClientID: Hashable, Sendable, CustomStringConvertible {
    public let rawValue: String

    public init(_ rawValue: String) throws(OAuthValueError) {
        self.rawValue = try SecretGrammar.requireVisible(rawValue, "client id")
    }

    public var description: String { rawValue }
}
