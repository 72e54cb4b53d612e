/// The password of a confidential client (RFC 6749 §2.3.1, Appendix A.2).
public struct ClientSecret: OAuthSecret {
    private let value: String

    public init(_ value: String) throws(OAuthValueError) {
        self.value = try SecretGrammar.requireVisible(value, "client secret")
    }

    public func reveal() -> String { value }
}
