/// A token that an app's own server issues for one of its users: a signed assertion (RFC 7523), or another token that a
/// provider exchanges for its own (RFC 8693).
public struct AuthToken: OAuthSecret {
    private let value: String

    public init(_ value: String) throws(OAuthValueError) {
        self.value = try SecretGrammar.requireVisible(value, "auth token")
    }

    public func reveal() -> String { value }
}
