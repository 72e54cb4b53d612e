import ArgumentParser
import FoundationEssentials
import OAuthClient
import TokenVault

/// When a given access token expires.
struct ExpiryOptions: ParsableArguments {
    @Option(help: .init("How long the access token is valid from now, such as 90s, 15m, 2h or 30d.", valueName: "time"))
    var expiresIn: TimeSpan?

    @Option(help: .init("When the access token expires, such as 2026-11-21T03:15:00Z.", valueName: "date"))
    var expiresAt: CalendarTime?

    var isGiven: Bool { expiresIn != nil || expiresAt != nil }
    /// The option that is given.
    var name: String { expiresIn != nil ? "--expires-in" : "--expires-at" }

    /// Warns if the token has already expired, and if the vault shortens its lifetime. Nil: the expiry is unknown.
    func date(_ invocation: Invocation) throws -> Date? {
        let date = try date(now: invocation.now)
        if let date, date <= invocation.now {
            invocation.warn("the access token has expired already, at \(date.formatted(.iso8601))")
        }
        let latest = invocation.now.addingTimeInterval(Double(GivenExpiry.longestLifetime.components.seconds))
        if let date, date > latest {
            invocation.warn(
                "the vault keeps no expiry later than ten years from now: \(latest.formatted(.iso8601)) (\(name))")
        }
        return date
    }

    /// Warns if the token itself says that it has expired, and no option says otherwise.
    func warn(ofClaimIn token: AccessToken?, _ invocation: Invocation) {
        guard !isGiven, let date = token?.claimedExpiry, date <= invocation.now else { return }
        invocation.warn("the access token has expired already, at \(date.formatted(.iso8601)): that is its exp")
    }

    /// Nil: the expiry is unknown.
    func date(now: Date) throws -> Date? {
        switch (expiresIn, expiresAt) {
        case (nil, nil):
            return nil
        case (let span?, nil):
            return now.addingTimeInterval(Double(span.duration.components.seconds))
        case (nil, let date?):
            return date.date(now: now)
        case (_?, _?):
            throw Failure.usage("--expires-in and --expires-at cannot be combined", hint: "use only one of them")
        }
    }
}
