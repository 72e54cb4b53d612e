/// What a resource server accepts (RFC 6749 §1.4, Appendix A.12).
public struct AccessToken: OAuthSecret {
    private let value: String

    public init(_ value: String) throws(OAuthValueError) {
        self.value = try SecretGrammar.requireVisible(value, "access token")
    }

    public func reveal() -> String { value }
}
