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

    enum CodingKeys: String, CodingKey {
        case id, user, client, scope, generation
        case isRevoked = "revoked"
        case refreshKey = "refresh_key"
    }

    init(_ grant: Grant) {
        id = grant.id
        user = grant.user
        client = grant.client
        scope = grant.scope.joined(separator: " ")
        generation = grant.generation
        isRevoked = !grant.isLive
        refreshKey = grant.keyThumbprint
    }
}

/// Tokens made without a log-in.
public struct IssuedGrant: Sendable, Codable {
    public var grant: String
    public var accessToken: String
    public var refreshToken: String?
    public var expiresIn: Int64

    enum CodingKeys: String, CodingKey {
        case grant
        case accessToken = "access_token"
        case refreshToken = "refresh_token"
        case expiresIn = "expires_in"
    }
}
