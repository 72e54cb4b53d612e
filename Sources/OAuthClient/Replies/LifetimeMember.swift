/// A member of a reply that says how long a token lives.
package struct LifetimeMember: Hashable, Sendable {
    package enum Unit: String, Hashable, Sendable, CaseIterable {
        case seconds, milliseconds
        /// Instants since 1970, or an ISO 8601 date as text.
        case epochSeconds, epochMilliseconds
    }

    /// What the time of a refresh token counts from.
    package enum Clock: String, Hashable, Sendable, CaseIterable {
        /// Its last use: each renewal begins it anew.
        case idle
        /// The user's consent: no renewal helps.
        case absolute
    }

    package var name: String
    package var unit: Unit
    package var clock: Clock

    package init(_ name: String, _ unit: Unit = .seconds, _ clock: Clock = .idle) {
        self.name = name
        self.unit = unit
        self.clock = clock
    }

    package static let access = [LifetimeMember("expires_in")]
    package static let refresh = [
        LifetimeMember("refresh_token_expires_in"), LifetimeMember("refresh_expires_in"),
        LifetimeMember("x_refresh_token_expires_in"), LifetimeMember("refresh_token_timeout"),
    ]
}
