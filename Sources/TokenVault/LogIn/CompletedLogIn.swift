public import OAuthClient

/// A completed log-in.
public struct CompletedLogIn: Sendable, Equatable, CustomStringConvertible, CustomReflectable {
    public internal(set) var login: Login
    /// What the app gave to
    /// ``UserManager/beginLogIn(userId:provider:redirectURI:scope:dpop:label:loginHint:parameters:context:)``.
    public let context: [String: String]
    /// What the provider's id token says of the user, checked; nil if there was none. Of it the vault keeps
    /// ``Login/subject``: keep yourself what else you need.
    public let claims: IDTokenClaims?

    public var description: String { "log-in of \(login.id)" }
    public var customMirror: Mirror { Mirror(self, children: ["login": login.id], displayStyle: .struct) }
}
