/// How one provider's replies are read. Data: a provider with a quirk is a value, not a code path.
package struct ReplyRules: Hashable, Sendable {
    /// What an `error` code means.
    package enum Meaning: String, Hashable, Sendable, CaseIterable {
        case dead
        /// `dead`, by a code that is not the RFC's.
        case deadByProfile
        /// The client is refused, whatever it asks for.
        case clientRefused
        /// This request is refused: for what it asks, or for whom.
        case misconfigured
        case needsUser
        case temporary
        case scopeRefused
        case nonceRequired
        case invalidProof
    }

    /// Whether a refresh token is replaced when it is used.
    package enum Rotation: String, Hashable, Sendable, CaseIterable {
        case never, sometimes, always
    }

    package enum BodyFormat: String, Hashable, Sendable, CaseIterable {
        /// JSON or form, by content.
        case automatic
        case json, form
    }

    package var format: BodyFormat
    /// Objects to enter before tokens are read, outermost first.
    package var tokenPath: [String]
    /// A member that must be `true` for a 2xx to be a success, such as Slack's `ok`.
    package var successMember: String?
    /// Where a reply's error stands; the first that is understood counts.
    package var errorMembers: [String]
    /// Codes and their meaning, beyond and instead of the RFC's.
    package var meanings: [String: Meaning]
    /// `suberror` values that turn a dead grant into one that needs its user.
    package var needsUserSuberrors: Set<String>
    /// Statuses that, with an empty body, mean that the login is dead.
    package var bareDeadStatuses: Set<Int>
    package var rotation: Rotation
    /// Token types that are other words for `Bearer` or `DPoP`. Keys in lower case.
    package var tokenTypeAliases: [String: TokenType]
    /// Whether a `Bearer` token is accepted where DPoP was asked for (RFC 9449 §5).
    package var acceptsDowngrade: Bool
    /// Where the access token's lifetime stands; the first member present counts.
    package var lifetimes: [LifetimeMember]
    package var refreshLifetimes: [LifetimeMember]
    /// For replies that give no lifetime.
    package var assumedLifetime: Duration?
    /// For refresh tokens whose reply gives no lifetime: what the provider documents.
    package var assumedRefreshLifetime: Duration?
    /// Objects of a reply to a code that hold the tokens of further logins.
    package var otherLogins: [OtherLogin]
    package var scopeSeparator: String
    /// Members of a good reply that are no secret and worth keeping, such as Salesforce's `instance_url`.
    package var keptMembers: [String] = []
    /// Whether the server is asked how long an access token lives (RFC 7662) when its reply does not say.
    package var introspectsLifetime = false
    /// Unclassified rejections that end a login: at least so many, over at least so long.
    package var rejectionLimit: RejectionHistory

    /// Tokens of another chain in the same reply, such as Slack's user token beside the bot's.
    package struct OtherLogin: Hashable, Sendable {
        /// Names the login for people.
        package var label: String
        /// Objects to enter, outermost first.
        package var path: [String]

        package init(label: String, path: [String]) {
            self.label = label
            self.path = path
        }
    }

    package init(
        format: BodyFormat = .automatic, tokenPath: [String] = [], successMember: String? = nil,
        errorMembers: [String] = ["error"], meanings: [String: Meaning] = [:],
        needsUserSuberrors: Set<String> = Self.entraSuberrors,
        bareDeadStatuses: Set<Int> = [], rotation: Rotation = .sometimes, tokenTypeAliases: [String: TokenType] = [:],
        acceptsDowngrade: Bool = false, lifetimes: [LifetimeMember] = LifetimeMember.access,
        refreshLifetimes: [LifetimeMember] = LifetimeMember.refresh, assumedLifetime: Duration? = nil,
        assumedRefreshLifetime: Duration? = nil, otherLogins: [OtherLogin] = [], scopeSeparator: String = " ",
        rejectionLimit: RejectionHistory = RejectionHistory(count: 10, span: .seconds(86_400))
    ) {
        self.format = format
        self.tokenPath = tokenPath
        self.successMember = successMember
        self.errorMembers = errorMembers
        self.meanings = meanings
        self.needsUserSuberrors = needsUserSuberrors
        self.bareDeadStatuses = bareDeadStatuses
        self.rotation = rotation
        self.tokenTypeAliases = tokenTypeAliases
        self.acceptsDowngrade = acceptsDowngrade
        self.lifetimes = lifetimes
        self.refreshLifetimes = refreshLifetimes
        self.assumedLifetime = assumedLifetime
        self.assumedRefreshLifetime = assumedRefreshLifetime
        self.otherLogins = otherLogins
        self.scopeSeparator = scopeSeparator
        self.rejectionLimit = rejectionLimit
    }

    /// A server that keeps to the RFCs.
    package static let rfc = ReplyRules()

    /// Values of `suberror` for which Microsoft's library keeps the refresh token: a policy asks for the user.
    package static let entraSuberrors: Set<String> = [
        "additional_action", "basic_action", "consent_required", "message_only", "protection_policy_required",
        "user_password_expired",
    ]

    /// Bodies above this are not read.
    static let maximumBodyBytes = 1_048_576
    static let maximumLifetime = Duration.seconds(10 * 365 * 86_400)
}
