public import Hummingbird
public import OAuthClient
public import TokenVault

/// The routes with which users connect their accounts at providers, and the health checks of the service.
///
/// ```swift
/// let callback = try RedirectURI("https://app.example/callback")
/// let routes = try VaultRoutes<BasicRequestContext>(users: users, providers: ["acme": callback]) { request, context in
///     await sessions.user(of: request)
/// }
/// routes.add(to: router)
/// ```
///
/// | route | |
/// |---|---|
/// | `GET /login?provider=NAME&returnTo=/PATH` | sends the browser to the provider, with a cookie; both parameters are optional |
/// | `GET` at the path of the redirect URI | completes the log-in, in the browser that began it |
/// | `GET /accounts` | the user's accounts as JSON: see ``VaultAccount`` |
/// | `POST /accounts/ID/reconnect` | a log-in into this account, which keeps its id |
/// | `POST /accounts/ID/logout`, `DELETE /accounts/ID` | logs the account out, and revokes it at the provider |
/// | `GET /health/live`, `GET /health/ready` | ready means that the vault can serve tokens |
///
/// An account of another user is answered like one that does not exist, by 404. The cookie binds a log-in to its browser:
/// `HttpOnly`, `SameSite=Lax`, until the log-in expires. With `https` it is `Secure` and has the prefix `__Host-`, so that no
/// other host of the domain can overwrite it; the prefix demands the path `/`. Each log-in has a cookie of its own, so tabs do
/// not disturb each other; a browser keeps the newest five. Plain `http` is for redirect URIs on this machine alone.
///
/// Pages of other sites can send requests with this browser's cookies. A `POST` or `DELETE` is refused with 403 if
/// `Sec-Fetch-Site` says anything but `same-origin` or `none`, or, without that header, if `Origin` is not the redirect URI's.
/// Programs that are no browsers send neither, and carry no one else's cookies.
public struct VaultRoutes<Context: RequestContext>: Sendable {
    public let users: UserManager
    let providers: [(name: String, redirectURI: RedirectURI)]
    /// The origin of this service for browsers.
    let origin: String

    /// In front of `/login` and `/accounts`, such as `/api`. The callback is where its redirect URI says.
    public var prefix = ""
    /// The user of this request's session, as your service calls them; nil if there is none. The callback refuses a log-in
    /// that was begun for another user, and accepts nil: its cookie proves the browser.
    public var signedIn: @Sendable (Request, Context) async throws -> String?
    /// The answer to a request without a session. By default 401.
    public var notSignedIn: @Sendable (Request, Context) async throws -> Response = { _, _ in
        .json(.unauthorized, #"{"error":"notSignedIn"}"#)
    }
    /// The answer to a completed log-in. By default a redirect to `returnTo`, or to `/`.
    public var afterLogIn: @Sendable (CompletedLogIn, Request, Context) async throws -> Response = { done, _, _ in
        .redirection(done.context["returnTo"]?.localPath ?? "/")
    }
    /// The answer to a log-out. By default JSON that says whether the provider has confirmed the revocation.
    public var afterLogOut: @Sendable (Login, RevocationReport, Request, Context) async throws -> Response = {
        _, report, _, _ in .json(.ok, #"{"isRevoked":\#(report.isComplete)}"#)
    }
    /// The answer to an error of the vault. By default ``VaultErrorMiddleware``'s.
    public var answer: @Sendable (VaultError, Request, Context) async throws -> Response = { error, _, _ in
        Response(error)
    }

    /// - Parameters:
    ///   - users: A manager of all users, or of one tenant's.
    ///   - providers: The name of each provider in the vault with the callback's URL as browsers see it: one for each, all at
    ///     one origin. The first is the default of `/login`.
    ///   - signedIn: See ``signedIn``.
    /// - Throws: `VaultError`, code `invalidArgument`, for a redirect URI that is not one of a web service.
    public init(
        users: UserManager, providers: KeyValuePairs<String, RedirectURI>,
        signedIn: @escaping @Sendable (Request, Context) async throws -> String?
    ) throws {
        let origins = Set(providers.map { $0.value.webLocation?.origin })
        guard origins.count == 1, let origin = origins.first ?? nil else {
            throw VaultError(.invalidArgument, "the redirect URIs are not http or https URLs of one origin")
        }
        (self.users, self.origin, self.signedIn) = (users, origin, signedIn)
        self.providers = providers.map { ($0.key, $0.value) }
    }

    /// Adds all routes to a router, or to a group without a path.
    public func add(to router: some RouterMethods<Context>) {
        addLogIn(to: router)
        addAccounts(to: router)
        addHealth(to: router)
    }

    /// Whether a page of another site may have sent this request. For routes of yours that change something.
    public func isFromOtherSite(_ request: Request) -> Bool {
        let site = request.headers.first { $0.name.canonicalName == "sec-fetch-site" }
        if let site { return site.value != "same-origin" && site.value != "none" }
        return request.headers[.origin].map { $0 != origin } ?? false
    }
}
