/// One grant as it stands.
public struct GrantSummary: Sendable, Codable, Equatable {
    public var id: String
    public var user: String
    public var client: String
    public var scope: String
    /// Refresh tokens issued so far.
    public var generation: Int
    public var isRevoked: Bool
    /// Thumbprint that the newest refresh token is bound to.
    public var refreshKey: String?
    /// Fingerprint of the newest refresh token: a client that holds another one has lost the chain.
    public var currentRefreshToken: String?
    /// Requests that presented one of its refresh tokens, however they ended.
    public var refreshRequests: Int
    public var rotated: Int
    public var replayedInGrace: Int
    /// Requests with a spent refresh token outside the grace window: tokens that were spent twice.
    public var reuseDetected: Int

    enum CodingKeys: String, CodingKey {
        case id, user, client, scope, generation, rotated
        case isRevoked = "revoked"
        case refreshKey = "refresh_key"
        case currentRefreshToken = "current_refresh_token"
        case refreshRequests = "refresh_requests"
        case replayedInGrace = "replayed_in_grace"
        case reuseDetected = "reuse_detected"
    }

    init(_ grant: Grant) {
        id = grant.id
        user = grant.user
        client = grant.client
        scope = grant.scope.joined(separator: " ")
        generation = grant.generation
        isRevoked = !grant.isLive
        refreshKey = grant.keyThumbprint
        currentRefreshToken = grant.currentRefreshToken.map(TokenFingerprint.of)
        refreshRequests = grant.tally.presented
        rotated = grant.tally.rotated
        replayedInGrace = grant.tally.replayedInGrace
        reuseDetected = grant.tally.reuseDetected
    }
}

/// Tokens made without a log-in.
public struct IssuedGrant: Sendable, Codable {
    public var grant: String
    public var accessToken: String
    public var refreshToken: String?
    /// Seconds.
    public var expiresIn: Double

    enum CodingKeys: String, CodingKey {
        case grant
        case accessToken = "access_token"
        case refreshToken = "refresh_token"
        case expiresIn = "expires_in"
    }
}
