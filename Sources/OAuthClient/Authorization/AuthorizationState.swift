/// The value that ties a callback to the request that it answers (RFC 6749 §4.1.1, §10.12).
public struct AuthorizationState: OAuthSecret {
    private let value: String

    public init(_ value: String) throws(OAuthValueError) {
        guard value.utf8.count <= 1_024 else { throw OAuthValueError(.tooLong, "state") }
        self.value = try SecretGrammar.requireVisible(value, "state")
    }

    private init(unchecked value: String) {
        self.value = value
    }

    /// 192 random bits.
    public static func random() -> AuthorizationState {
        var text = RandomText.make(byteCount: 24)
        // People pass it to commands, which would mistake it for an option.
        while text.hasPrefix("-") { text = RandomText.make(byteCount: 24) }
        return AuthorizationState(unchecked: text)
    }

    public func reveal() -> String { value }
}
