/// What a provider's reply showed of its rules, in the audit row of what the reply led to. Never a secret.
package struct ReplyFacts: Hashable, Sendable {
    /// The refresh token in a reply with tokens. The codes are stored.
    package enum NextToken: UInt8, Hashable, Sendable, CaseIterable {
        case none = 1
        /// The one that was sent.
        case same = 2
        case new = 3
    }

    /// Nil for a reply without tokens, and where it cannot be said.
    package var nextToken: NextToken?
    /// Whether the reply said how long the access token lives.
    package var saysLifetime: Bool
    /// Seconds since the login's last token.
    package var idle: Int64?
    /// Seconds since the user's consent. Only for the end of a login: otherwise the look has the time of the consent.
    package var age: Int64?

    package init(nextToken: NextToken? = nil, saysLifetime: Bool = false, idle: Int64? = nil, age: Int64? = nil) {
        self.nextToken = nextToken
        self.saysLifetime = saysLifetime
        self.idle = idle
        self.age = age
    }
}
