public import OAuthClient

/// An API wants the user to have authenticated in another way, or more recently (RFC 9470 §3). The token is good; renewing
/// it changes nothing. The user must log in again with ``logInParameters``.
///
/// ```swift
/// let response = try await AuthorizingClient(users: users).send(request, userId: "alice")
/// if let challenge = response.stepUp {
///     let logIn = try await users.beginLogIn(
///         LogInRequest(userId: "alice", provider: "acme", parameters: challenge.logInParameters))
///     show("log in again", at: logIn.url)
/// }
/// ```
public struct StepUpChallenge: Error, Sendable, Equatable, CustomStringConvertible {
    /// Ways to authenticate that the API accepts (`acr_values`), the preferred one first; empty: it does not say.
    package let contextClasses: [String]
    /// How long ago the user may have authenticated at most (`max_age`); nil: it does not say.
    package let maximumAge: Duration?
    /// The scope that the token must have; nil if the API names none.
    public let scope: Scope?

    /// Parameters for a log-in whose token the API accepts.
    public var logInParameters: LogInParameters {
        var parameters = LogInParameters()
        parameters.contextClasses = contextClasses
        parameters.maximumAge = maximumAge
        return parameters
    }

    public var description: String { "the API wants the user to authenticate in another way, or more recently" }

    private static let mostClasses = 16
    private static let oldest: Int64 = 3_155_760_000

    init(_ challenge: AuthenticationChallenge) {
        // The texts are a stranger's, and go into a URL.
        contextClasses =
            (challenge["acr_values"] ?? "").split(separator: " ").map(String.init)
            .filter { $0.utf8.count <= 256 && $0.utf8.allSatisfy { (0x21...0x7E).contains($0) } }
            .prefix(Self.mostClasses).map(\.self)
        maximumAge = challenge["max_age"].flatMap { Int64($0) }.flatMap {
            (0...Self.oldest).contains($0) ? .seconds($0) : nil
        }
        scope = challenge["scope"].flatMap { try? Scope($0) }
    }
}

extension StepUpChallenge: NameRendering {}
