/// An OAuth error reply (RFC 6749 §5.2).
public struct ErrorTokenResponse: Hashable, Sendable {
    public let error: OAuthErrorCode
    public let errorDescription: ServerMessage?
    /// A link that the server offers. Untrusted: never followed here.
    public let errorURI: ServerMessage?
    public let status: Int

    package init(error: OAuthErrorCode, errorDescription: ServerMessage?, errorURI: ServerMessage?, status: Int) {
        self.error = error
        self.errorDescription = errorDescription
        self.errorURI = errorURI
        self.status = status
    }
}
