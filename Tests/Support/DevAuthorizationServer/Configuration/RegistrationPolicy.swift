/// Who may register a client, and how registrations are managed (RFC 7591, RFC 7592).
public struct RegistrationPolicy: Sendable {
    /// What a request must carry as a Bearer token; `nil`: anyone may register a client.
    public var initialAccessToken: String?
    /// Whether each management request replaces the token for the registration (RFC 7592 §3).
    public var rotatesTokens: Bool
    /// Whether each update gives another client secret.
    public var replacesSecrets: Bool

    public init(initialAccessToken: String? = nil, rotatesTokens: Bool = false, replacesSecrets: Bool = false) {
        self.initialAccessToken = initialAccessToken
        self.rotatesTokens = rotatesTokens
        self.replacesSecrets = replacesSecrets
    }
}
