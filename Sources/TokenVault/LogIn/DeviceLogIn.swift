public import FoundationEssentials
import OAuthClient
import VaultStorage

/// A log-in that the user approves in a browser on another device (RFC 8628). Show ``userCode`` and ``verificationURI``
/// to the user, then call ``UserManager/completeDeviceLogIn(_:)``.
///
/// The data for completing it is in the memory of this process: if the process ends, begin again.
public struct DeviceLogIn: Sendable {
    /// The code that the user types at ``verificationURI``: printable ASCII.
    public let userCode: String
    /// Where the user approves.
    public let verificationURI: String
    /// The same with the user code in it, for a link or a QR code; nil: the provider gives none.
    public let verificationURIComplete: String?
    /// After this time the user can no longer approve.
    public let expiresAt: Date
    /// How long the vault waits between two polls, at first.
    public let interval: Duration

    let grant: GrantRequest
    let context: [String: String]
    /// By the clock that is never set.
    let endsAt: Duration
}

extension DeviceLogIn: PublicRendering {
    /// The user code is the user's alone.
    var shown: ShownFields { [:] }
}

/// How often the provider is asked (RFC 8628 §3.5). Pure.
struct DevicePace: Equatable, Sendable {
    /// No code is valid for longer.
    private static let longest = Duration.seconds(86_400)

    private(set) var interval: Duration

    init(interval: Duration) { self.interval = interval }

    /// Servers add these five seconds, too.
    mutating func slowDown() { interval += .seconds(5) }

    /// Slows down after a poll without an answer.
    mutating func backOff(retryAfter: Duration?) {
        interval = max(interval * 2, min(retryAfter ?? .zero, Backoff.longestRetryAfter))
        interval = min(interval, Self.longest)
    }
}
