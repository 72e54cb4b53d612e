public import OAuthClient

/// A caller's request for one of a login's access tokens, and for how long it must be valid.
///
/// ```swift
/// let patient = TokenRequest(minimumValidity: .seconds(900), deadline: .seconds(2))
/// let calendar = try TokenRequest(resource: "https://calendar.example", scope: Scope("events.read"))
/// ```
///
/// A login has its own token, which covers the whole grant, and narrower ones: for single resources (RFC 8707), or with
/// less scope. The vault keeps one for each resource and scope, and leaves the login's own as it is. A login has at
/// most 16 of them; the one that expires first is dropped first. All of them come from the login's one refresh token,
/// so callers that want tokens for different resources are served one after the other.
public struct TokenRequest: Hashable, Sendable {
    /// For how long the token must be valid. By default five minutes, or a fifth of its lifetime if that is less; a
    /// token that is merely valid is then still better than an error.
    public var minimumValidity: Duration?
    /// How long to wait at most. The renewal continues after it.
    public var deadline: Duration?
    /// The resource for which the token is used: an absolute URI without a fragment, as the provider knows it. Nil:
    /// those of the login's own token.
    public var resource: String?
    /// Less than what was granted; nil: all of it.
    public var scope: Scope?
    /// Whether the token is renewed now, whatever is left of it. An obstacle on record is respected: a dead login stays
    /// dead, a backoff is waited out.
    public var renewsNow: Bool

    public init(
        minimumValidity: Duration? = nil, deadline: Duration? = nil, resource: String? = nil, scope: Scope? = nil,
        renewsNow: Bool = false
    ) {
        self.minimumValidity = minimumValidity
        self.deadline = deadline
        self.resource = resource
        self.scope = scope
        self.renewsNow = renewsNow
    }

    /// The login's own token, renewed now, whatever is left of it.
    ///
    /// ```swift
    /// let token = try await users.accessToken(for: .user("alice"), .renewed)
    /// ```
    public static let renewed = TokenRequest(renewsNow: true)
}

extension TokenRequest: PublicRendering {
    var shown: ShownFields {
        [
            "minimumValidity": minimumValidity, "deadline": deadline, "resource": resource, "scope": scope,
            "renewsNow": renewsNow,
        ]
    }
}
