package import VaultCrypto

/// The session cell: everything about a login that a read of its access token needs.
package struct SessionRecord: Equatable, Sendable {
    package var state: SessionStateCode
    package var accessToken: SecretBytes?
    /// The spelling of the server, such as `Bearer` or `DPoP`.
    package var tokenType: String
    /// The scope of the access token, if the server reported it.
    package var scope: String?
    package var createdAt: Timestamp
    package var obtainedAt: Timestamp
    /// The exact instant; `nil` if the server did not report it.
    package var expiresAt: Timestamp?
    package var terminationReason: UInt8?
    /// The refresh-failed flag: nothing is sent for this login while it is set.
    package var failure: FailureRecord?
    /// Whether a handler was notified of ``failure``, so that it is called once across restarts.
    package var notifiedFailure = false
    /// No process renews before this instant: back-off after a transient failure, or postponed by the app.
    package var notBefore: Timestamp?
    /// The number of consecutive transient failures.
    package var attempts: Int = 0
    /// The generation whose access token a resource server refused.
    package var rejectedGeneration: Int64?
    /// Rejections by the token endpoint that are not definitive.
    package var rejections: RejectionHistory?
    /// Why the open intent is in doubt. The codes belong to the refresh engine.
    package var doubtCause: UInt8?
    /// Whether the current tokens came in reply to a refresh token that had been sent before with an unknown outcome.
    package var cameAfterDoubt = false
    /// Whether ``expiresAt`` is the profile's assumption, because the server did not report it.
    package var isExpiryAssumed = false
    /// The generation that stored ``accessToken``, if renewals for single resources have advanced the chain since.
    package var accessGeneration: Int64?
    /// When the user granted this chain. Nil if the grant came with the login, as for a first chain, or if it is
    /// unknown.
    package var grantedAt: Timestamp?
    private var extras = SessionExtras()

    package init(
        state: SessionStateCode, accessToken: SecretBytes? = nil, tokenType: String = "Bearer", scope: String? = nil,
        createdAt: Timestamp, obtainedAt: Timestamp, expiresAt: Timestamp? = nil
    ) {
        self.state = state
        self.accessToken = accessToken
        self.tokenType = tokenType
        self.scope = scope
        self.createdAt = createdAt
        self.obtainedAt = obtainedAt
        self.expiresAt = expiresAt
    }
}

extension SessionRecord {
    package var label: String? {
        get { extras.place?.values.label }
        set { extras.change { $0.label = newValue } }
    }

    /// The app's own data in addition to the label. It is bounded, because it is read with every token.
    package var metadata: [String: String] {
        get { extras.place?.values.metadata ?? [:] }
        set { extras.change { $0.metadata = newValue } }
    }

    /// The scope that the user granted at log-in: the most that a refresh may request.
    package var grantedScope: String? {
        get { extras.place?.values.grantedScope }
        set { extras.change { $0.grantedScope = newValue } }
    }

    /// The user's id at the provider.
    package var subject: String? {
        get { extras.place?.values.subject }
        set { extras.change { $0.subject = newValue } }
    }

    /// Access tokens for single resources or of narrower scopes, at most one for each target.
    package var resourceTokens: [TokenRecord] {
        get { extras.place?.values.resourceTokens ?? [] }
        set { extras.change { $0.resourceTokens = newValue } }
    }

    /// Members of replies that the provider's profile keeps, such as `instance_url`.
    package var attributes: [String: String] {
        get { extras.place?.values.attributes ?? [:] }
        set { extras.change { $0.attributes = newValue } }
    }

    /// The origin of an imported chain; nil once another chain has replaced it.
    package var origin: ImportOrigin? {
        get { extras.place?.values.origin }
        set { extras.change { $0.origin = newValue } }
    }

    /// The provider's last answer to a renewal that it refused; nil after a success.
    package var lastRefusal: RefusalRecord? {
        get { extras.place?.values.lastRefusal }
        set { extras.change { $0.lastRefusal = newValue } }
    }

    /// The protected resource for which the user logged in: the tokens go to it alone, and every renewal names it
    /// (RFC 8707). Nil: the provider's API origins decide.
    package var resource: String? {
        get { extras.place?.values.resource }
        set { extras.change { $0.resource = newValue } }
    }

    /// The scope that the last log-in asked for, if the login is for a resource. More than ``grantedScope`` if the server
    /// granted less.
    package var requestedScope: String? {
        get { extras.place?.values.requestedScope }
        set { extras.change { $0.requestedScope = newValue } }
    }

    /// Whether the login's resource has named another authorization server since the user logged in.
    package var hasMoved: Bool {
        get { extras.place?.values.hasMoved ?? false }
        set { extras.change { $0.hasMoved = newValue } }
    }

    /// How many times in a row the user has been asked to consent to the scope of the last log-in, because an API wanted it.
    package var repeatedConsents: Int64 {
        get { extras.place?.values.repeatedConsents ?? 0 }
        set { extras.change { $0.repeatedConsents = newValue } }
    }

    /// Sets all of these at once.
    mutating func set(_ values: SessionExtras.Values) { extras = SessionExtras(values) }
}

/// The stored part of a session's state. `notLoggedIn` is the absence of a login.
package enum SessionStateCode: UInt8, Hashable, Sendable, CaseIterable {
    case establishing = 1
    case established = 2
    case tokenExpired = 3
    case terminated = 4
}

/// The reason and time of a login's permanent renewal failure. The codes belong to the refresh engine.
package struct FailureRecord: Hashable, Sendable {
    package var reason: UInt8
    package var at: Timestamp

    package init(reason: UInt8, at: Timestamp) {
        self.reason = reason
        self.at = at
    }

    /// Stored with other failures because it stops renewals in the same way, but the grant is not dead.
    package static let needsUserCode: UInt8 = 32

    /// Whether the login is dead.
    package var isDead: Bool { reason != Self.needsUserCode }
}

/// How often, and since when, a token endpoint has refused in a way that no table lists.
package struct RejectionHistory: Hashable, Sendable {
    package var count: Int
    package var since: Timestamp

    package init(count: Int, since: Timestamp) {
        self.count = count
        self.since = since
    }
}

extension SessionRecord {
    /// Whether there is a failure that no handler was notified of.
    package var hasUnreportedFailure: Bool { failure != nil && !notifiedFailure }

    /// Whether nothing is sent until the user or the app acts.
    var isObstructed: Bool { state == .terminated || failure != nil }

    /// Whether the login is neither terminated nor dead.
    package var isLiving: Bool { state != .terminated && failure?.isDead != true }
}
