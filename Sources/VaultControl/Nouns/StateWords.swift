import FoundationEssentials
import TokenVault

/// A login's state in words.
enum StateWords {
    /// For tables, in the words of `--state`.
    static func short(_ login: Login) -> String {
        switch login.state {
        case .notLoggedIn: "not logged in"
        case .establishing: "establishing"
        case .established: login.standing.rawValue
        case .tokenExpired(let failure?): "\(login.standing.rawValue): \(failure.reason)"
        case .tokenExpired(nil) where login.standing != .expired: "\(login.standing.rawValue), expired"
        case .tokenExpired(nil): "\(login.standing.rawValue), \(login.isRefreshable ? "renewable" : "not renewable")"
        case .terminated: "terminated"
        }
    }

    /// A sentence.
    static func long(_ login: Login, now: Date) -> String {
        switch login.state {
        case .notLoggedIn:
            return "not logged in"
        case .establishing:
            return "the log-in is in progress"
        case .established:
            guard let expiresAt = login.expiresAt else { return "good; the provider does not say when it expires" }
            return "good; the access token expires \(Instant.relative(expiresAt, now: now))"
        case .tokenExpired(let failure?):
            return "dead \(words(failure, now: now))"
        case .tokenExpired(nil):
            let since = login.expiresAt.map { "the access token expired \(Instant.relative($0, now: now))" }
            return (since ?? "there is no access token")
                + (login.isRefreshable
                    ? "; it is renewed at the next use" : "; there is no refresh token to renew it with")
        case .terminated(let reason):
            return reason == .userDisabled ? "ended, because the user was disabled" : "ended"
        }
    }

    static func terminationReason(_ login: Login) -> String? {
        guard case .terminated(let reason) = login.state else { return nil }
        return reason.description
    }

    /// The stable word for programs.
    static func code(_ state: SessionState) -> String {
        switch state {
        case .notLoggedIn: "notLoggedIn"
        case .establishing: "establishing"
        case .established: "established"
        case .tokenExpired: "tokenExpired"
        case .terminated: "terminated"
        }
    }

    /// When and why a login died.
    static func words(_ failure: RefreshFailure, now: Date?) -> String {
        "since \(Instant.words(failure.date, now: now)): \(reason(failure.reason))"
    }

    private static func reason(_ reason: RefreshFailure.Reason) -> String {
        switch reason {
        case .deadGrant: "the provider ended the grant"
        case .lostResponse: "a reply was lost, and with it the next refresh token"
        case .unclassifiedRejection: "the provider refused renewals for a day without a reason"
        case .refusedByHandler: "the app reported that it can no longer be renewed"
        default: reason.description
        }
    }
}
