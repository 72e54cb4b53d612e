public import OAuthClient

/// A completed log-in.
public struct CompletedLogIn: Sendable, Equatable, CustomStringConvertible, CustomReflectable {
    public internal(set) var login: Login
    /// The context that the app passed to
    /// ``LogInRequest``.
    public let context: [String: String]
    /// The verified claims of the provider's id token; nil if there was none. The vault keeps only ``Login/subject`` of
    /// them: store anything else that you need.
    public let claims: IDTokenClaims?

    public var description: String { "log-in of \(login.id)" }
    public var customMirror: Mirror { Mirror(self, children: ["login": login.id], displayStyle: .struct) }
}
