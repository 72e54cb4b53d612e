/// An OpenID Connect id token, unparsed.
public struct IDToken: OAuthSecret {
    private let value: String

    public init(_ value: String) throws(OAuthValueError) {
        self.value = try SecretGrammar.requireVisible(value, "id token")
    }

    public func reveal() -> String { value }
}
