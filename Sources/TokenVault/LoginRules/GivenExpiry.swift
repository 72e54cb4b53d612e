import FoundationEssentials
package import VaultStorage

/// An expiry that the app has given for its own token.
package enum GivenExpiry: Equatable {
    case unknown
    case at(Timestamp)
    /// Not a number, or infinite: it gives no time after which the token is useless.
    case unusable

    /// Expiries from servers are shortened to that, too.
    package static let longestLifetime = Duration.seconds(315_360_000)

    init(_ date: Date?, now: Timestamp) {
        guard let date else {
            self = .unknown
            return
        }
        guard date.timeIntervalSince1970.isFinite else {
            self = .unusable
            return
        }
        self = .at(min(Timestamp(date), now.advanced(by: Self.longestLifetime)))
    }

    /// Nil if unknown.
    func checked() throws -> Timestamp? {
        switch self {
        case .unknown: return nil
        case .at(let instant): return instant
        case .unusable:
            throw VaultError(
                .invalidArgument, "the token's expiry is not a valid time",
                hint: "leave it out if the expiry is unknown")
        }
    }
}
