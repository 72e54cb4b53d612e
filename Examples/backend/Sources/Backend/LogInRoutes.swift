import Hummingbird
import TokenVault

/// The way through the provider's log-in and back.
struct LogInRoutes: Sendable {
    static let sessionCookie = "session"
    private static let bindingCookie = "log_in"

    let users: UserManager
    let sessions: BrowserSessions
    let settings: Settings

    func add(to router: Router<BasicRequestContext>) {
        router.get("login") { request, _ in try await begin(request) }
        router.get("callback") { request, _ in try await complete(request) }
        router.post("logout") { request, _ in try await logOut(request) }
    }

    /// Sends the browser to the provider. `user` stands for the account that a real service knows from its own session.
    private func begin(_ request: Request) async throws -> Response {
        guard let user = request.uri.queryParameters["user"].map(String.init) else {
            return Answer.json(.badRequest, ["error": "user is missing"])
        }
        do {
            let begun = try await users.beginLogIn(
                userId: user, provider: settings.provider, redirectURI: settings.redirectURI, loginHint: user)
            var response = Response(status: .found, headers: [.location: begun.url, .cacheControl: "no-store"])
            // Only the browser that began may finish: otherwise an attacker could send a visitor the URL of their own
            // log-in, and get the visitor's tokens.
            response.setCookie(cookie(Self.bindingCookie, begun.binding.reveal(), maxAge: 600, path: "/callback"))
            return response
        } catch let error as VaultError {
            return Answer.error(error)
        }
    }

    /// The provider sends the browser here.
    private func complete(_ request: Request) async throws -> Response {
        guard let binding = request.cookies[Self.bindingCookie].flatMap({ try? BrowserBinding($0.value) }) else {
            return Answer.json(.forbidden, ["error": "this browser did not begin this log-in"])
        }
        do {
            let done = try await users.completeLogIn(
                .url(settings.publicURL + request.uri.description), boundTo: binding)
            var response = Response(status: .seeOther, headers: [.location: "/profile", .cacheControl: "no-store"])
            response.setCookie(cookie(Self.sessionCookie, sessions.begin(done.login.id), maxAge: nil, path: "/"))
            response.setCookie(cookie(Self.bindingCookie, "", maxAge: 0, path: "/callback"))
            return response
        } catch let error as VaultError {
            return Answer.error(error)
        }
    }

    /// Forgets the login here at once; the vault tells the provider, now or as soon as it can be reached.
    private func logOut(_ request: Request) async throws -> Response {
        guard let session = request.cookies[Self.sessionCookie]?.value, let login = sessions.login(of: session) else {
            return Answer.json(.ok, ["session": "none"])
        }
        sessions.end(session)
        do {
            try await users.logOut(.login(login))
            return Answer.json(.ok, ["session": "ended"])
        } catch let error as VaultError {
            return Answer.error(error)
        }
    }

    private func cookie(_ name: String, _ value: String, maxAge: Int?, path: String) -> Cookie {
        Cookie(
            name: name, value: value, maxAge: maxAge, path: path, secure: settings.usesTLS, httpOnly: true,
            sameSite: .lax)
    }
}
