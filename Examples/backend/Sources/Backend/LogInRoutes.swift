import Hummingbird
import TokenVault

/// The routes to the provider's log-in page and back.
struct LogInRoutes: Sendable {
    let users: UserManager
    let sessions: BrowserSessions
    let cookies: Cookies
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
                LogInRequest(
                    userId: user, provider: settings.provider, redirectURI: settings.redirectURI, loginHint: user))
            var response = Response(status: .found, headers: [.location: begun.url, .cacheControl: "no-store"])
            response.setCookie(cookies.binding(begun.binding))
            return response
        } catch let error as VaultError {
            return Answer.error(error)
        }
    }

    /// The provider sends the browser here.
    private func complete(_ request: Request) async throws -> Response {
        let session = sessions.session(of: cookies.session(of: request))
        do {
            guard let binding = cookies.binding(of: request) else {
                throw LogInNotBegun()
            }
            let done = try await users.completeLogIn(
                .url(settings.publicURL + request.uri.description), boundTo: binding,
                expectedUserId: session?.login == nil ? session?.user : nil)
            var response =
                done.context["returnTo"] == AccountRoutes.place
                ? AccountRoutes.leads(to: done.context["again"] == nil ? .connected : .reconnected)
                : Response(status: .seeOther, headers: [.location: "/profile", .cacheControl: "no-store"])
            if done.context["returnTo"] == nil {
                response.setCookie(cookies.session(sessions.begin(done.login.userId, done.login.id)))
            }
            response.setCookie(cookies.withoutBinding)
            return response
        } catch let error as VaultError {
            guard let session, session.login == nil else { return Answer.error(error) }
            return AccountRoutes.leads(to: Notice(error))
        } catch is LogInNotBegun {
            return Answer.json(.forbidden, ["error": "this browser did not begin this log-in"])
        }
    }

    private struct LogInNotBegun: Error {}

    /// Forgets the login here at once; the vault revokes it at the provider, now or as soon as the provider is
    /// reachable.
    private func logOut(_ request: Request) async throws -> Response {
        guard let name = cookies.session(of: request), let login = sessions.session(of: name)?.login else {
            return Answer.json(.ok, ["session": "none"])
        }
        sessions.end(name)
        do {
            try await users.logOut(.login(login))
            return Answer.json(.ok, ["session": "ended"])
        } catch let error as VaultError {
            return Answer.error(error)
        }
    }
}
