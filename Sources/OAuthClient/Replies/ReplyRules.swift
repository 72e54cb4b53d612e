/// How one provider's replies are read. Data: a provider with a quirk is a value, not a code path.
package struct ReplyRules: Hashable, Sendable {
    /// The meaning of an `error` code.
    package enum Meaning: String, Hashable, Sendable, CaseIterable {
        case dead
        /// `dead`, by a code that is not the RFC's.
        case deadByProfile
        /// The client is rejected, whatever it requests.
        case clientRefused
        /// This request is rejected, for its content or its user.
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
    /// A member that says whether a 2xx is a success, such as Slack's `ok`.
    package var successMember: SuccessMember?
    /// The members with a reply's error; the first that is understood counts.
    package var errorMembers: [String]
    /// Codes and their meanings, in addition to the RFC's or overriding them.
    package var meanings: [String: Meaning]
    /// `suberror` values that turn a dead grant into one that needs the user.
    package var needsUserSuberrors: Set<String>
    /// Statuses that, with an empty body, mean that the login is dead.
    package var bareDeadStatuses: Set<Int>
    /// Statuses that, whatever the body says, are about this moment.
    package var temporaryStatuses: Set<Int> = []
    package var rotation: Rotation
    /// Token types that are synonyms of `Bearer` or `DPoP`. Keys in lower case.
    package var tokenTypeAliases: [String: TokenType]
    /// Whether a `Bearer` token is accepted where DPoP was requested (RFC 9449 §5).
    package var acceptsDowngrade: Bool
    /// The members with the access token's lifetime; the first one present counts.
    package var lifetimes: [LifetimeMember]
    package var refreshLifetimes: [LifetimeMember]
    /// The default for replies without a lifetime.
    package var assumedLifetime: Duration?
    /// The provider's documented lifetime for refresh tokens whose reply gives none.
    package var assumedRefreshLifetime: Duration?
    /// Objects of a reply to a code that hold the tokens of additional logins.
    package var otherLogins: [OtherLogin]
    package var scopeSeparator: String
    /// Members of a successful reply that are not secret and worth keeping, such as Salesforce's `instance_url`.
    package var keptMembers: [String] = []
    /// Whether the access token itself is exchanged for the next one, because the provider has no refresh tokens.
    package var chainIsAccessToken = false
    /// Whether the server is asked how long an access token lives (RFC 7662) when its reply does not say.
    package var introspectsLifetime = false
    /// The minimum number and time span of unclassified rejections that end a login.
    package var rejectionLimit: RejectionHistory

    /// A member and its value in a success.
    package struct SuccessMember: Hashable, Sendable, ExpressibleByStringLiteral {
        package var name: String
        /// As written: `true`, `0`.
        package var value: String

        package init(_ name: String, is value: String = "true") {
            self.name = name
            self.value = value
        }

        package init(stringLiteral name: String) { self.init(name) }
    }

    /// Tokens of another chain in the same reply, such as Slack's user token next to the bot's.
    package struct OtherLogin: Hashable, Sendable {
        /// The name of the login for people.
        package var label: String
        /// Objects to enter, outermost first.
        package var path: [String]

        package init(label: String, path: [String]) {
            self.label = label
            self.path = path
        }
    }

    package init(
        format: BodyFormat = .automatic, tokenPath: [String] = [], successMember: SuccessMember? = nil,
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

    /// A server that follows the RFCs.
    package static let rfc = ReplyRules()

    /// Values of `suberror` for which Microsoft's library keeps the refresh token: a policy requires the user.
    package static let entraSuberrors: Set<String> = [
        "additional_action", "basic_action", "consent_required", "message_only", "protection_policy_required",
        "user_password_expired",
    ]

    /// Longer bodies are not read.
    static let maximumBodyBytes = 1_048_576
    static let maximumLifetime = Duration.seconds(10 * 365 * 86_400)
}
