/// Ties an id token to the log-in that requested it (OpenID Connect Core §3.1.2.1).
package struct IDTokenNonce: OAuthSecret {
    private let value: String

    package init(_ value: String) throws(OAuthValueError) {
        guard value.utf8.count <= 256 else { throw OAuthValueError(.tooLong, "nonce") }
        self.value = try SecretGrammar.requireVisible(value, "nonce")
    }

    private init(unchecked value: String) {
        self.value = value
    }

    /// 192 random bits.
    package static func random() -> IDTokenNonce {
        IDTokenNonce(unchecked: RandomText.make(byteCount: 24))
    }

    package func reveal() -> String { value }
}
