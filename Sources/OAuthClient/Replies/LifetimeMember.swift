/// A member of a reply that says how long a token lives.
package struct LifetimeMember: Hashable, Sendable {
    package enum Unit: String, Hashable, Sendable, CaseIterable {
        case seconds, milliseconds
        /// Instants since 1970, or an ISO 8601 date as text.
        case epochSeconds, epochMilliseconds
    }

    package var name: String
    package var unit: Unit

    package init(_ name: String, _ unit: Unit = .seconds) {
        self.name = name
        self.unit = unit
    }

    package static let access = [LifetimeMember("expires_in")]
    package static let refresh = [
        LifetimeMember("refresh_token_expires_in"), LifetimeMember("refresh_expires_in"),
        LifetimeMember("x_refresh_token_expires_in"),
    ]
}
