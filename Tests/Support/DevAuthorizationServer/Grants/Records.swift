/// One authorization that a user gave to a client: the family of all tokens that come from it.
struct Grant: Sendable {
    let id: String
    let user: String
    let client: String
    let scope: [String]
    /// Resources that its access tokens are for (RFC 8707); empty when none were named.
    let resources: [String]
    let createdAt: Moment
    /// `nonce` of the authorization request (OpenID Connect Core §3.1.2.1).
    let openIDNonce: String?
    /// `acr` of the log-in.
    var contextClass: String?
    var details: String?
    /// Number of refresh tokens that were issued.
    var generation = 0
    var revokedAt: Moment?
    /// Thumbprint of the key that the newest refresh token is bound to.
    var keyThumbprint: String?
    /// The refresh token that was issued last.
    var currentRefreshToken: String?
    var tally = RefreshTally()

    var isLive: Bool { revokedAt == nil }
}

/// What an authorization code stands for until it is redeemed.
struct CodeRecord: Sendable {
    let user: String
    let client: String
    let redirectURI: String
    let scope: [String]
    let resources: [String]
    /// S256 challenge (RFC 7636 §4.2).
    let challenge: String?
    /// `dpop_jkt` (RFC 9449 §10).
    let keyThumbprint: String?
    let openIDNonce: String?
    let contextClass: String?
    /// `authorization_details` (RFC 9396), as they were asked for.
    let details: String?
    let expiresAt: Moment
    /// The grant that the first redemption made.
    var grant: String?
}

struct AccessRecord: Sendable {
    let grant: String
    let scope: [String]
    /// Whom it is for (RFC 8707); empty is every resource.
    let resources: [String]
    /// `cnf.jkt`; `nil` for a Bearer token.
    let keyThumbprint: String?
    /// `cnf.x5t#S256` (RFC 8705 §3.1).
    var certificateThumbprint: String?
    let issuedAt: Moment
    var expiresAt: Moment
}

struct RefreshRecord: Sendable {
    let grant: String
    /// Key that must sign every use; only public clients' tokens have one (RFC 9449 §5).
    let keyThumbprint: String?
    let issuedAt: Moment
    let expiresAt: Moment?
    /// The token that took this one's place, once this one is spent.
    var successor: String?
    var spentAt: Moment?
    var tally = RefreshTally()
}

/// The outcomes of the requests that presented a refresh token, or any token of a grant.
struct RefreshTally: Sendable {
    /// Requests of the right client, however they ended.
    var presented = 0
    /// Requests that were given tokens, replays within the grace window among them.
    var redeemed = 0
    /// Redemptions that gave a new refresh token.
    var rotated = 0
    var replayedInGrace = 0
    /// Requests that were taken for a theft.
    var reuseDetected = 0
}

/// The tokens of a successful reply.
struct IssuedTokens: Sendable {
    let grant: Grant
    let accessToken: String
    var access: AccessRecord
    let refreshToken: String?
}

/// What happened since the start or the last reset.
public struct ServerCounters: Sendable, Equatable, Codable {
    public var codesIssued = 0
    public var accessTokensIssued = 0
    public var refreshTokensIssued = 0
    /// Requests of the right client with a refresh token that was issued here, however they ended.
    public var refreshRequests = 0
    /// Refresh tokens that gave way to a new one.
    public var rotated = 0
    /// Spent refresh tokens that were answered again within the grace window.
    public var replayedInGrace = 0
    /// Spent codes or refresh tokens that came back.
    public var reuseDetected = 0
    /// Grants ended, for whatever cause.
    public var grantsRevoked = 0

    public init() {}

    enum CodingKeys: String, CodingKey {
        case codesIssued = "codes_issued"
        case accessTokensIssued = "access_tokens_issued"
        case refreshTokensIssued = "refresh_tokens_issued"
        case refreshRequests = "refresh_requests"
        case rotated
        case replayedInGrace = "replayed_in_grace"
        case reuseDetected = "reuse_detected"
        case grantsRevoked = "grants_revoked"
    }
}
