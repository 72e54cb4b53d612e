import OAuthClient
public import TokenVault

extension ScriptedTransport {
    /// The URL to which the provider would send the user's browser, once they have agreed: with the request's state, a
    /// code, and the provider's name where it gives one (RFC 9207). With it a log-in takes two lines:
    ///
    /// ```swift
    /// let begun = try await users.beginLogIn(LogInRequest(userId: "alice", provider: "acme"))
    /// let done = try await users.completeLogIn(.url(transport.callback(for: begun)), boundTo: begun.binding)
    /// ```
    ///
    /// Nothing is sent. The vault then exchanges the code at the token endpoint, which this transport answers from its
    /// script, for instance by ``ScriptedReply/freshTokens(expiresIn:tokenType:)``.
    ///
    /// - Parameters:
    ///   - request: The log-in that has begun.
    ///   - code: The authorization code. It contains ``Sample/marker``.
    public func callback(for request: AuthorizationRequest, code: String = Sample.marker + "code") -> String {
        Self.callback(for: request, [("code", code)])
    }

    /// The URL to which the provider would send the user's browser if they do not agree.
    ///
    /// - Parameters:
    ///   - request: The log-in that has begun.
    ///   - error: The reason (RFC 6749 §4.1.2.1).
    public func refusal(of request: AuthorizationRequest, error: String = "access_denied") -> String {
        Self.callback(for: request, [("error", error)])
    }

    private static func callback(for request: AuthorizationRequest, _ answer: [(String, String)]) -> String {
        let fields = answer + [("state", request.state)] + (request.issuer.map { [("iss", $0)] } ?? [])
        let query = fields.map { "\($0)=\(FormCodec.encode($1))" }.joined(separator: "&")
        let uri = request.redirectURI ?? ""
        return uri + (uri.contains("?") ? "&" : "?") + query
    }
}
