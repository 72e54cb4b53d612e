/// A rule of a provider that its replies contradict.
package struct DriftFinding: Equatable, Sendable {
    /// What differs. The names are stored and shown: never changed.
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        /// Whether a renewal replaces the refresh token.
        case rotation
        /// How long access tokens live.
        case accessLifetime
        /// How long refresh tokens live, according to replies to log-ins.
        case refreshLifetime
        /// Whether a log-in brings a refresh token.
        case refreshTokens
        /// How long after the consent logins end.
        case endByAge
        /// How long after their last renewal logins end.
        case endByIdleTime
        /// An error code that the profile does not name.
        case errorCode
    }

    package let kind: Kind
    /// What the replies show, for people.
    package let says: String
    /// The same without anything that a provider wrote, for records that others read.
    package let summary: String
    /// The replies that it rests on, and their logins.
    package let replies: Int
    package let logins: Int
    /// The time of the first of them, since 1970.
    package let since: Duration
    /// What would make the profile true; empty if a person must decide that.
    package let edits: [ProfileEdit]

    init(
        _ kind: Kind, _ says: String, summary: String? = nil, _ evidence: some Collection<ObservedReply>,
        edits: [ProfileEdit] = []
    ) {
        self.kind = kind
        self.says = says
        self.summary = summary ?? says
        self.edits = edits
        replies = evidence.count
        logins = Set(evidence.map(\.login)).count
        since = evidence.map(\.at).min() ?? .zero
    }
}
