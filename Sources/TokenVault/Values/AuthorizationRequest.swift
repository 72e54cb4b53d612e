public import FoundationEssentials

/// A log-in that has begun: send the user's browser to ``url``. What is needed to finish it lies sealed in the vault,
/// so that any process may.
public struct AuthorizationRequest: Sendable, Equatable {
    /// Where the user's browser must go.
    public let url: String
    /// Comes back with the callback, and names this request.
    public let state: String
    /// After this time the request can no longer be completed.
    public let expiresAt: Date
}
