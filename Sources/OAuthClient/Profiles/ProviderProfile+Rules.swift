extension ProviderProfile {
    /// Whether a feature is unused, used where the server offers it, or always used.
    public enum Usage: String, Hashable, Sendable, CaseIterable {
        case never, whenSupported, required
    }

    /// How the client authenticates.
    package struct ClientRules: Hashable, Sendable {
        /// The audience of an assertion (RFC 7523 §3).
        package enum Audience: String, Hashable, Sendable, CaseIterable {
            case tokenEndpoint, issuer
        }

        /// Methods that the provider accepts, the best first. Empty if unknown.
        package var authentication: [String] = []
        /// Which clients send a challenge (RFC 7636).
        package enum PKCE: String, Hashable, Sendable, CaseIterable {
            case always, publicClients, never
        }

        /// `never` where the server rejects a request with a challenge.
        package var pkce = PKCE.always
        /// The issuer, where it is known: an assertion for a token endpoint that an attacker named could be used at
        /// another server with the same key.
        package var assertionAudience = Audience.issuer
        /// How an RSA key signs; nil if unknown.
        package var assertionAlgorithm: ClientAssertionKey.Algorithm?
        /// Whether only ``authentication`` and tokens bound to a key or a certificate are accepted (RFC 9449, RFC
        /// 8705).
        package var boundTokens = false
        /// Whether a client's id is the URL of its metadata, and clients are registered nowhere
        /// (draft-ietf-oauth-client-id-metadata-document).
        package var idIsDocument = false
        /// Whether callbacks must name the issuer (RFC 9207), whatever the metadata says.
        package var issuerInCallback = false
        /// Whether the provider is known to send no id token although `openid` was requested. Then only PKCE protects a
        /// log-in from another user's code.
        package var idTokenMayBeMissing = false
        /// The accepted signature algorithms of id tokens; empty for all supported ones.
        package var idTokenAlgorithms: [String] = []
        /// How long a client secret works, where the provider makes it expire.
        package var secretLifetime: Duration?
    }

    /// How the callback of a log-in is read.
    package struct CallbackRules: Hashable, Sendable {
        /// The parameter with the code.
        package var code = "code"
        /// Parameters that are kept with the login, such as `realmId`.
        package var keep: [String] = []
    }

    /// The format of requests.
    package struct RequestRules: Hashable, Sendable {
        package var body = RequestStyle.Body.form
        package var scopeSeparator = " "
        package var pushedAuthorization = Usage.never
        /// Whether a refresh repeats the granted scope.
        package var sendsScopeOnRefresh = false
        package var authorizationParameters: [FormParameter] = []
        /// Additional parameters of code exchanges.
        package var tokenParameters: [FormParameter] = []
        package var refreshParameters: [FormParameter] = []
        /// The provider's own names for parameters of RFC 6749, such as `client_key` for `client_id`.
        package var names: [String: String] = [:]
    }

    /// How refresh tokens may be used, and for how long.
    package struct RefreshPolicy: Hashable, Sendable {
        /// The tokens that a server revokes when a refresh token is reused.
        package enum ReuseBlast: String, Hashable, Sendable, CaseIterable {
            case none, family, clientUser
        }

        package enum Replay: String, Hashable, Sendable, CaseIterable {
            case auto, never
        }

        /// When the old refresh token stops being answered.
        package enum GraceEnd: String, Hashable, Sendable, CaseIterable {
            /// When the time is over.
            case time
            /// When the new tokens are used for the first time, and at the latest when the time is over.
            case replacementUsed
        }

        /// The token that is exchanged for the next one.
        package enum Chain: String, Hashable, Sendable, CaseIterable {
            case refreshToken
            /// A living access token: the provider has no refresh tokens.
            case accessToken
        }

        package enum Method: String, Hashable, Sendable, CaseIterable {
            case get = "GET"
            case post = "POST"
        }

        package var rotation = ReplyRules.rfc.rotation
        /// The lifetime of an access token whose reply does not say.
        package var assumedLifetime: Duration?
        /// How long after its use the old refresh token still gets an answer.
        package var grace: Duration = .zero
        package var graceEnds = GraceEnd.time
        package var chain = Chain.refreshToken
        package var grantType = "refresh_token"
        package var method = Method.post
        /// Whether a renewal authenticates the client.
        package var sendsClient = true
        /// A younger token is not renewed: the provider would refuse.
        package var minimumAge: Duration = .zero
        /// Whether a renewal ends the access token before it, so that requests under way with it are refused.
        package var endsFormerAccessToken = false
        /// The exchange that makes the first token of a log-in last; nil: none is needed.
        package var first: FirstExchange?
        /// Why a log-in may bring no refresh token, and what to do about it.
        package var missing: String?
        package var reuseBlast = ReuseBlast.family
        package var replay = Replay.auto
        /// How long a refresh token lives without being used.
        package var idleLifetime: Duration?
        /// How long the grant lives, however often it is used.
        package var absoluteLifetime: Duration?
        /// The maximum number of live refresh tokens for one user and client; the next one silently ends the oldest.
        package var maximumTokens: Int?
    }

    /// A second request of each log-in: the token that came for the code lives for an hour, and is exchanged for one that
    /// lives longer.
    package struct FirstExchange: Hashable, Sendable {
        package var endpoint: EndpointURL
        package var method = RefreshPolicy.Method.post
        package var grantType: String
        /// The parameter with the token.
        package var parameter: String
        package var sendsClient = true
        /// Whether the client's secret is a parameter of it, though not its id.
        package var sendsSecretAlone = false
    }

    package struct DPoPRules: Hashable, Sendable {
        package var usage = Usage.whenSupported
        /// The server spends a refresh token even if it then asks for a nonce, so none is sent before a nonce is known.
        package var requiresNonce = false
        /// Whether a plain `Bearer` token is accepted where DPoP was requested (RFC 9449 §5).
        package var acceptsDowngrade = false
    }

    /// How a token is revoked. By default RFC 7009.
    package struct RevocationRules: Hashable, Sendable {
        package enum Method: String, Hashable, Sendable, CaseIterable {
            case post = "POST"
            case delete = "DELETE"
        }

        /// The position of the token in the request.
        package enum Carrier: String, Hashable, Sendable, CaseIterable {
            case form, json
            /// In the `Authorization` header, as a bearer token; the client is not authenticated otherwise.
            case bearer
        }

        package enum Authentication: String, Hashable, Sendable, CaseIterable {
            /// As at the token endpoint.
            case client
            /// Id and secret in the header, whatever the token endpoint accepts.
            case basic
            case none
        }

        /// Which of a login's tokens ends the grant.
        package enum Target: String, Hashable, Sendable, CaseIterable {
            case refreshToken, accessToken, both
        }

        /// The scope of a revocation.
        package enum Reach: String, Hashable, Sendable, CaseIterable {
            /// Its own chain.
            case chain
            /// Everything that the user granted this client, including other log-ins.
            case clientUser
        }

        package var method = Method.post
        package var carrier = Carrier.form
        /// The parameter's name.
        package var parameter = "token"
        package var sendsHint = true
        package var authentication = Authentication.client
        package var target = Target.refreshToken
        /// Statuses that mean that the token no longer works.
        package var doneStatuses: Set<Int> = [200]
        /// Error codes that mean the same, such as `invalid_token` where RFC 7009 §2.2 requires a 200.
        package var doneCodes: Set<String> = []
        /// Nil if unknown.
        package var reach: Reach?

        package init() {}

        /// Where an access token ends the grant, the grant belongs to the user and not to one log-in, unless the
        /// profile says otherwise: leaving a chain alive does less harm than ending one because of another.
        package var endsOtherChains: Bool { (reach ?? (target == .accessToken ? .clientUser : .chain)) == .clientUser }

        /// Whether requests follow RFC 7009, however their replies are read.
        package var isStandardRequest: Bool {
            var request = Self()
            (request.target, request.doneStatuses, request.doneCodes) = (target, doneStatuses, doneCodes)
            request.reach = reach
            return self == request
        }
    }

    /// Rate and time limits for one provider.
    package struct Limits: Hashable, Sendable {
        package var connectTimeout: Duration = HTTPLimits.tokenEndpoint.connectTimeout
        package var timeout: Duration = HTTPLimits.tokenEndpoint.timeout
        /// Token requests per minute for one client; nil if unknown.
        package var requestsPerMinute: Int?
        package var concurrentRequests: Int?
    }
}
