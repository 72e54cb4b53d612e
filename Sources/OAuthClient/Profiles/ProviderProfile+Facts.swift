// What tools and people ask of a profile.
extension ProviderProfile {
    /// Methods of client authentication that the provider takes, the best first; empty if that is not known.
    package var authenticationMethods: [String] { client.authentication }
    /// How a client's RSA key signs its assertions; nil: not known.
    package var assertionAlgorithm: ClientAssertionKey.Algorithm? { client.assertionAlgorithm }
    /// Whether access tokens must be bound, to a DPoP key or to a certificate, and the client's methods are all there are.
    package var requiresBoundTokens: Bool { client.boundTokens }
    /// Whether callbacks must name the issuer (RFC 9207).
    package var requiresIssuerInCallback: Bool { client.issuerInCallback }
    /// Whether logins are bound to a DPoP key (RFC 9449).
    package var keyBinding: Usage { dpop.usage }
    /// Whether log-ins need the endpoint of RFC 9126.
    package var wantsPushedRequests: Bool { request.pushedAuthorization == .required }
    /// False where the server refuses requests with a challenge (RFC 7636).
    package var usesPKCE: Bool { client.pkce }
    /// False where the server sends no id token although `openid` was asked for.
    package var sendsIDToken: Bool { !client.idTokenMayBeMissing }
    /// Members of replies that ``TokenResponse`` does not have and that are kept, such as `instance_url`.
    package var keptMembers: [String] { reply.keptMembers }
    /// How long an access token is assumed to live where the reply does not say; nil: unknown.
    package var assumedLifetime: Duration? { reply.assumedLifetime }
    /// Whether the server is asked how long an access token lives (RFC 7662) when its reply does not say.
    package var introspectsLifetime: Bool { reply.introspectsLifetime }
    /// Refresh tokens of one user and client that can live at the same time; one more silently ends the oldest.
    package var maximumTokens: Int? { refresh.maximumTokens }
    /// Token requests that the provider allows one client in a minute; nil: not known.
    package var requestsPerMinute: Int? { limits.requestsPerMinute }
    /// Token requests that one process sends at the same time at most; nil: no bound.
    package var concurrentRequests: Int? { limits.concurrentRequests }
    /// How long a refresh token lives unused; nil: not known.
    package var idleLifetime: Duration? { refresh.idleLifetime }
    /// How long a chain of refresh tokens lives; nil: not known.
    package var absoluteLifetime: Duration? { refresh.absoluteLifetime }
}
