extension ProviderProfile {
    /// Whether something is left out, used where the server offers it, or always used.
    public enum Usage: String, Hashable, Sendable, CaseIterable {
        case never, whenSupported, required
    }

    /// How the client shows who it is.
    package struct ClientRules: Hashable, Sendable {
        /// Whom an assertion is for (RFC 7523 §3).
        package enum Audience: String, Hashable, Sendable, CaseIterable {
            case tokenEndpoint, issuer
        }

        /// Methods that the provider takes, the best first. Empty: not known.
        package var authentication: [String] = []
        /// False where the server refuses a request with a challenge (RFC 7636).
        package var pkce = true
        /// The issuer, where it is known: an assertion for a token endpoint that an attacker has named could be used at
        /// another server with the same key.
        package var assertionAudience = Audience.issuer
        /// How an RSA key signs; nil: not known.
        package var assertionAlgorithm: ClientAssertionKey.Algorithm?
        /// Whether only ``authentication`` and tokens that are bound to a key or to a certificate are taken (RFC 9449, RFC 8705).
        package var boundTokens = false
        /// Whether callbacks must name the issuer (RFC 9207), whatever the metadata says.
        package var issuerInCallback = false
        /// Whether the provider is known to send no id token although `openid` was asked for. Then nothing but PKCE protects
        /// a log-in from the code of another.
        package var idTokenMayBeMissing = false
        /// How id tokens may be signed; empty: in each way that is known.
        package var idTokenAlgorithms: [String] = []
    }

    /// How requests are written.
    package struct RequestRules: Hashable, Sendable {
        package var body = RequestStyle.Body.form
        package var scopeSeparator = " "
        package var pushedAuthorization = Usage.never
        /// Whether a refresh repeats the scope that was granted.
        package var sendsScopeOnRefresh = false
        package var authorizationParameters: [FormParameter] = []
        /// Of code exchanges.
        package var tokenParameters: [FormParameter] = []
        package var refreshParameters: [FormParameter] = []
    }

    /// What may be done with a refresh token, and for how long.
    package struct RefreshPolicy: Hashable, Sendable {
        /// What a server revokes when a refresh token comes a second time.
        package enum ReuseBlast: String, Hashable, Sendable, CaseIterable {
            case none, family, clientUser
        }

        package enum Replay: String, Hashable, Sendable, CaseIterable {
            case auto, never
        }

        package var rotation = ReplyRules.rfc.rotation
        /// How long an access token lives whose reply does not say.
        package var assumedLifetime: Duration?
        /// For so long after its use, the old refresh token still gives an answer.
        package var grace: Duration = .zero
        package var reuseBlast = ReuseBlast.family
        package var replay = Replay.auto
        /// A refresh token that is not used for so long is dead.
        package var idleLifetime: Duration?
        /// However often it is used, the grant ends after so long.
        package var absoluteLifetime: Duration?
        /// So many refresh tokens live for one user and client; the next one silently ends the oldest.
        package var maximumTokens: Int?
    }

    package struct DPoPRules: Hashable, Sendable {
        package var usage = Usage.whenSupported
        /// The server spends a refresh token even if it then asks for a nonce: none is sent before a nonce is known.
        package var requiresNonce = false
        /// Whether a plain `Bearer` token is taken where DPoP was asked for (RFC 9449 §5).
        package var acceptsDowngrade = false
    }

    /// How a token is ended. By default RFC 7009.
    package struct RevocationRules: Hashable, Sendable {
        package enum Method: String, Hashable, Sendable, CaseIterable {
            case post = "POST"
            case delete = "DELETE"
        }

        /// Where the token stands in the request.
        package enum Carrier: String, Hashable, Sendable, CaseIterable {
            case form, json
            /// In the `Authorization` header, as a bearer token; nothing else says who asks.
            case bearer
        }

        package enum Authentication: String, Hashable, Sendable, CaseIterable {
            /// As at the token endpoint.
            case client
            /// Id and secret in the header, whatever the token endpoint takes.
            case basic
            case none
        }

        /// Which of a login's tokens ends the grant.
        package enum Target: String, Hashable, Sendable, CaseIterable {
            case refreshToken, accessToken, both
        }

        /// What ends with a token that is revoked.
        package enum Reach: String, Hashable, Sendable, CaseIterable {
            /// Its own chain.
            case chain
            /// Everything that the user has granted this client, in other log-ins too.
            case clientUser
        }

        package var method = Method.post
        package var carrier = Carrier.form
        /// The parameter's name.
        package var parameter = "token"
        package var sendsHint = true
        package var authentication = Authentication.client
        package var target = Target.refreshToken
        /// Statuses that mean that the token works no more.
        package var doneStatuses: Set<Int> = [200]
        /// Error codes that mean the same, such as `invalid_token` where RFC 7009 §2.2 wants a 200.
        package var doneCodes: Set<String> = []
        /// Nil: not known.
        package var reach: Reach?

        package init() {}

        /// Where an access token ends the grant, the grant is the user's and not a log-in's, unless the profile knows
        /// better: a chain that is left alive does less harm than one that is ended for another's sake.
        package var endsOtherChains: Bool { (reach ?? (target == .accessToken ? .clientUser : .chain)) == .clientUser }

        /// Whether requests are as RFC 7009 has them, however their replies are read.
        package var isStandardRequest: Bool {
            var request = Self()
            (request.target, request.doneStatuses, request.doneCodes) = (target, doneStatuses, doneCodes)
            request.reach = reach
            return self == request
        }
    }

    /// What one provider may be asked, and how long it may take.
    package struct Limits: Hashable, Sendable {
        package var connectTimeout: Duration = HTTPLimits.tokenEndpoint.connectTimeout
        package var timeout: Duration = HTTPLimits.tokenEndpoint.timeout
        /// Token requests per minute for one client; nil: not known.
        package var requestsPerMinute: Int?
        package var concurrentRequests: Int?
    }
}
