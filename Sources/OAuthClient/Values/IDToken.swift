/// An OpenID Connect id token, as it came.
public struct IDToken: OAuthSecret {
    private let value: String

    public init(_ value: String) throws(OAuthValueError) {
        self.value = try SecretGrammar.requireVisible(value, "id token")
    }

    public func reveal() -> String { value }
}
