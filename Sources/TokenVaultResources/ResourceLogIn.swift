public import HTTPTypes
public import OAuthClient
public import TokenVault

/// A log-in for one protected resource, such as an API or an MCP server whose address the user has brought.
public struct ResourceLogIn: Sendable {
    let subject: Subject
    let resource: String?
    let refusal: HTTPResponse?
    let scope: Scope?
    let label: String?
    let dpop: Bool?
    let loginHint: String?
    let parameters: LogInParameters
    let context: [String: String]

    enum Subject: Sendable {
        case user(String)
        case login(LoginRef, acceptsOtherAccount: Bool)
    }

    /// A log-in that makes a login for a user.
    ///
    /// - Parameters:
    ///   - userId: The user, as the app calls them. They need not exist yet.
    ///   - resource: The URL of the resource.
    ///   - refusal: How the resource refused a request, if there was one: it may name its metadata, and the scope that it wants
    ///     (RFC 9728 §5.1). Otherwise the resource is asked.
    ///   - scope: By default what the resource wants, or all that it supports.
    ///   - dpop: Whether the login is bound to a key (RFC 9449). By default if the resource demands it.
    ///   - label: Distinguishes this user's logins.
    ///   - loginHint: The account that the server should expect, such as a mail address.
    ///   - parameters: Requests beyond the scope. The resource is named without them.
    ///   - context: Given back in `CompletedLogIn.context`: up to 16 values of 1 KiB, sealed.
    public init(
        userId: String, resource: String, refusedWith refusal: HTTPResponse? = nil, scope: Scope? = nil,
        dpop: Bool? = nil, label: String? = nil, loginHint: String? = nil,
        parameters: LogInParameters = LogInParameters(), context: [String: String] = [:]
    ) {
        subject = .user(userId)
        self.resource = resource
        self.refusal = refusal
        self.scope = scope
        self.dpop = dpop
        self.label = label
        self.loginHint = loginHint
        self.parameters = parameters
        self.context = context
    }

    /// A log-in into a login that is for a resource, after the resource has refused its token. Its result replaces the login's
    /// chain; see `LogInRequest`. For more scope alone, `LogInRequest(into:adding:)` asks the resource nothing.
    ///
    /// - Parameters:
    ///   - login: The login.
    ///   - refusal: How the resource refused a request. Otherwise the resource is asked.
    ///   - dpop: Whether the login is bound to a key. By default as before.
    ///   - loginHint: As for a new login.
    ///   - parameters: As for a new login.
    ///   - context: As for a new login.
    ///   - acceptsOtherAccount: Whether the user may choose another account at the server than before.
    public init(
        into login: LoginRef, refusedWith refusal: HTTPResponse? = nil, dpop: Bool? = nil, loginHint: String? = nil,
        parameters: LogInParameters = LogInParameters(), context: [String: String] = [:],
        acceptsOtherAccount: Bool = false
    ) {
        subject = .login(login, acceptsOtherAccount: acceptsOtherAccount)
        resource = nil
        self.refusal = refusal
        scope = nil
        self.dpop = dpop
        label = nil
        self.loginHint = loginHint
        self.parameters = parameters
        self.context = context
    }
}
