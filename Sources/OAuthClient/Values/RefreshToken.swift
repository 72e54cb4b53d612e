/// A token that the token endpoint exchanges for the next access token (RFC 6749 §1.5, Appendix A.17). It often works
/// only once.
public struct RefreshToken: OAuthSecret {
    private let value: String

    public init(_ value: String) throws(OAuthValueError) {
        self.value = try SecretGrammar.requireVisible(value, "refresh token")
    }

    /// Takes a token from a server or from storage unchanged: anything that can be sent back in a form is a refresh
    /// token, inside the grammar or not.
    package init(received value: String) throws(OAuthValueError) {
        self.value = try SecretGrammar.requireReturnable(value, "refresh token")
    }

    public func reveal() -> String { value }
}
