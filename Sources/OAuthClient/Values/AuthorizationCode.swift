/// A code from the authorization endpoint for the token endpoint (RFC 6749 §1.3.1, Appendix A.11).
public struct AuthorizationCode: OAuthSecret {
    private let value: String

    public init(_ value: String) throws(OAuthValueError) {
        self.value = try SecretGrammar.requireVisible(value, "authorization code")
    }

    public func reveal() -> String { value }
}
