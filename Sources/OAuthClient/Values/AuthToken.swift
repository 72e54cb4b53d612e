/// What an app's own server vouches for one of its users with: a signed assertion (RFC 7523), or another token that a
/// provider takes in exchange for one of its own (RFC 8693).
public struct AuthToken: OAuthSecret {
    private let value: String

    public init(_ value: String) throws(OAuthValueError) {
        self.value = try SecretGrammar.requireVisible(value, "auth token")
    }

    public func reveal() -> String { value }
}
