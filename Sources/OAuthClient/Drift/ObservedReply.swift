/// What one reply of a provider showed of its rules.
package struct ObservedReply: Equatable, Sendable {
    package enum Event: Hashable, Sendable {
        case logIn, renewal
        /// The provider said that the login is over.
        case end
        /// A refusal that says something else.
        case refusal
    }

    /// The refresh token in a reply with tokens.
    package enum NextToken: Hashable, Sendable {
        case none
        /// The one that was sent.
        case same
        case new
    }

    package var event: Event
    /// Replies to the same login have the same number.
    package var login: Int
    /// Since 1970.
    package var at: Duration
    /// Nil for a reply without tokens.
    package var nextToken: NextToken?
    /// How long the access token lives, if the reply said so.
    package var lifetime: Duration?
    /// How long the refresh token lives, by the reply or the profile.
    package var refreshLifetime: Duration?
    /// How long ago the user consented.
    package var age: Duration?
    /// How long ago the login was last renewed.
    package var idle: Duration?
    /// The error of a refusal.
    package var code: OAuthErrorCode?

    package init(_ event: Event, login: Int, at: Duration) {
        self.event = event
        self.login = login
        self.at = at
    }
}
