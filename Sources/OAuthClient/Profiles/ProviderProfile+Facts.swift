// Facts about a profile for tools and people.
extension ProviderProfile {
    /// Methods of client authentication that the provider accepts, the best first; empty if unknown.
    package var authenticationMethods: [String] { client.authentication }
    /// How a client's RSA key signs its assertions; nil if unknown.
    package var assertionAlgorithm: ClientAssertionKey.Algorithm? { client.assertionAlgorithm }
    /// Whether access tokens must be bound to a DPoP key or a certificate, and only the client's methods are allowed.
    package var requiresBoundTokens: Bool { client.boundTokens }
    /// Whether a client's id is the URL of its metadata.
    package var clientIDIsDocument: Bool { client.idIsDocument }
    /// Whether callbacks must name the issuer (RFC 9207).
    package var requiresIssuerInCallback: Bool { client.issuerInCallback }
    /// Whether logins are bound to a DPoP key (RFC 9449).
    package var keyBinding: Usage { dpop.usage }
    /// Whether log-ins require the endpoint of RFC 9126.
    package var wantsPushedRequests: Bool { request.pushedAuthorization == .required }
    /// Whether a log-in sends a challenge (RFC 7636).
    package func usesPKCE(publicClient: Bool) -> Bool {
        switch client.pkce {
        case .always: true
        case .publicClients: publicClient
        case .never: false
        }
    }
    /// False where the server sends no id token although `openid` was requested.
    package var sendsIDToken: Bool { !client.idTokenMayBeMissing }
    /// Members of replies that are kept in addition to those of ``TokenResponse``, such as `instance_url`.
    package var keptMembers: [String] { reply.keptMembers }
    /// The assumed lifetime of an access token where the reply does not say; nil if unknown.
    package var assumedLifetime: Duration? { reply.assumedLifetime }
    /// Whether the server is asked how long an access token lives (RFC 7662) when its reply does not say.
    package var introspectsLifetime: Bool { reply.introspectsLifetime }
    /// The members of replies and parameters of callbacks that are kept with a login.
    package var attributeNames: [String] { callback.keep + reply.keptMembers + variables.map(\.name) }
    /// Why a log-in may bring no refresh token, and what to do about it; nil if unknown.
    package var missingRefreshToken: String? { refresh.missing }
    /// Whether an access token is exchanged for the next one, because there are no refresh tokens.
    package var renewsByAccessToken: Bool { refresh.chain == .accessToken }
    /// A younger token is not renewed.
    package var minimumAge: Duration { refresh.minimumAge }
    /// How long a client secret works; nil: for ever, or unknown.
    package var secretLifetime: Duration? { client.secretLifetime }
    /// The maximum number of live refresh tokens for one user and client; one more silently ends the oldest.
    package var maximumTokens: Int? { refresh.maximumTokens }
    /// Token requests that the provider allows one client per minute; nil if unknown.
    package var requestsPerMinute: Int? { limits.requestsPerMinute }
    /// The maximum number of simultaneous token requests of one process; nil if unlimited.
    package var concurrentRequests: Int? { limits.concurrentRequests }
    /// How long an unused refresh token lives; nil if unknown.
    package var idleLifetime: Duration? { refresh.idleLifetime }
    /// How long a chain of refresh tokens lives; nil if unknown.
    package var absoluteLifetime: Duration? { refresh.absoluteLifetime }
}
