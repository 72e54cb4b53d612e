import HTTPTypes
import OAuthClient

/// A failure that a ``ScriptedTransport`` simulates for every request until further notice.
///
/// ```swift
/// transport.simulate(.temporary)    // tryLater; what is still valid is served
/// transport.simulate(.permanent)    // refreshFailed: the login is dead
/// transport.simulate(nil)           // all is well again
/// ```
public struct SimulatedFailure: Sendable {
    let reply: ScriptedReply

    private init(_ reply: ScriptedReply) {
        self.reply = reply
    }

    /// An outage: nothing is sent, and it may work later. The vault waits for a while, and tries again.
    public static let temporary = unreachable
    /// The provider ends the grant (`invalid_grant`). The vault flags the login and sends no more requests for it.
    public static let permanent = Self(.error("invalid_grant"))

    /// The provider cannot be reached. Nothing was sent.
    public static let unreachable = Self(.failure(.notSent, .connect))
    /// The provider answers 503, optionally with a time for a retry.
    public static func outage(retryAfterSeconds seconds: Int? = nil) -> Self {
        var fields: HTTPFields = [:]
        if let seconds { fields[.retryAfter] = String(seconds) }
        return Self(.status(.serviceUnavailable, headers: fields))
    }
    /// The provider asks for fewer requests (429).
    public static func rateLimit(retryAfterSeconds seconds: Int) -> Self {
        Self(.status(.tooManyRequests, headers: [.retryAfter: String(seconds)]))
    }
    /// The request may have arrived, but the reply is lost. The vault sends the same token again after a moment: let
    /// time pass with ``ManualTimeSource/passing(step:_:)``.
    public static let lostReply = Self(.failure(.maybeSent, .reset))
    /// The provider rejects this client: no login is at fault.
    public static let refusedClient = Self(.error("invalid_client", status: .unauthorized))
}
