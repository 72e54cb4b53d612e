import HTTPTypes
import Hummingbird
import TokenVault

/// The routes on which people see their connected accounts, connect more, and disconnect them.
struct AccountRoutes: Sendable {
    let users: UserManager
    let sessions: BrowserSessions
    let cookies: Cookies
    let settings: Settings

    /// The callback's destination, in the log-in's context.
    static let place = "/accounts"

    func add(to router: Router<BasicRequestContext>) {
        router.get("accounts.css") { _, _ in
            Response(
                status: .ok, headers: [.contentType: "text/css; charset=utf-8", .cacheControl: "max-age=3600"],
                body: ResponseBody(byteBuffer: ByteBuffer(string: Stylesheet.text)))
        }
        router.get("accounts") { request, _ in try await overview(request) }
        router.post("sign-in") { request, context in try await signIn(request, context) }
        router.post("sign-out") { request, context in
            try await submitted(request, context) { _, _ in
                if let name = cookies.session(of: request) { sessions.end(name) }
                return Self.leads(to: .signedOut)
            }
        }
        router.post("accounts/connect") { request, context in
            try await submitted(request, context) { session, form in try await connect(session, form) }
        }
        router.get("accounts/:login/disconnect") { request, context in
            guard let session = sessions.session(of: cookies.session(of: request)) else { return Self.leads(to: nil) }
            guard let login = try await login(session, context) else { return AccountPage.missing() }
            return try await page(session).confirmation(login)
        }
        changing("reconnect", router) { session, login, _ in try await reconnect(login) }
        changing("rename", router) { _, login, form in
            let name = form.label.map { $0.trimmed }.flatMap { $0.isEmpty ? nil : $0 }
            try await users.setLabel(name, of: .login(login.id))
            return Self.leads(to: .renamed)
        }
        changing("disconnect", router) { _, login, _ in
            let report = try await users.logOut(.login(login.id))
            return Self.leads(to: report.isComplete ? .disconnected : .disconnecting)
        }
    }

    // MARK: The page's content

    private func overview(_ request: Request) async throws -> Response {
        let notice = request.uri.queryParameters["notice"].flatMap { Notice(rawValue: String($0)) }
        guard let session = sessions.session(of: cookies.session(of: request)) else {
            return AccountPage.signIn(notice)
        }
        var accounts: [Login] = []
        do {
            for try await case .login(let login) in users.vault.logins(where: LoginFilter(userId: session.user)) {
                accounts.append(login)
            }
        } catch let error as VaultError where error.code == .unknownUser {
            // No account was ever connected.
        }
        // Accounts that need the person first, then the oldest.
        accounts.sort { left, right in
            let (isLeft, isRight) = (AccountPage.needsUser(left), AccountPage.needsUser(right))
            return isLeft == isRight ? left.createdAt < right.createdAt : isLeft
        }
        return try await page(session).overview(accounts, notice)
    }

    private func page(_ session: BrowserSessions.Session) async throws -> AccountPage {
        let providers = try await users.vault.providers()
        return AccountPage(session: session, providers: providers.filter { $0.authorizationEndpoint != nil })
    }

    /// The account in the path, if it is this person's.
    private func login(_ session: BrowserSessions.Session, _ context: BasicRequestContext) async throws -> Login? {
        guard let text = context.parameters.get("login"), let id = LoginID(text),
            let login = try? await users.vault.login(id), login.userId == session.user
        else { return nil }
        return login
    }

    // MARK: People's actions

    private func signIn(_ request: Request, _ context: BasicRequestContext) async throws -> Response {
        guard isOurs(request), let form = try? await Form(request, context), let user = form.user?.trimmed,
            !user.isEmpty, user.utf8.count <= 100
        else { return Self.leads(to: nil) }
        var response = Self.leads(to: nil)
        response.setCookie(cookies.session(sessions.begin(user)))
        return response
    }

    private func connect(_ session: BrowserSessions.Session, _ form: Form) async throws -> Response {
        let label = form.label.map { $0.trimmed }.flatMap { $0.isEmpty ? nil : $0 }
        let begun = try await users.beginLogIn(
            LogInRequest(
                userId: session.user, provider: form.provider ?? settings.provider, redirectURI: settings.redirectURI,
                label: label, loginHint: session.user, context: ["returnTo": Self.place]))
        return sent(begun)
    }

    /// The login keeps its id, its name and its dependent data; its old grant is revoked.
    private func reconnect(_ login: Login) async throws -> Response {
        sent(
            try await users.beginLogIn(
                LogInRequest(
                    into: .login(login.id), redirectURI: settings.redirectURI, loginHint: login.userId,
                    context: ["returnTo": Self.place, "again": "yes"])))
    }

    private func sent(_ begun: AuthorizationRequest) -> Response {
        var response = Response(status: .seeOther, headers: [.location: begun.url, .cacheControl: "no-store"])
        response.setCookie(cookies.binding(begun.binding))
        return response
    }

    // MARK: Forms

    private struct Form: Decodable {
        var token: String?
        var user: String?
        var provider: String?
        var label: String?

        init(_ request: Request, _ context: BasicRequestContext) async throws {
            var request = request
            let body = try await request.collectBody(upTo: 16_384)
            self = try URLEncodedFormDecoder().decode(Form.self, from: String(buffer: body))
        }
    }

    /// Handles a form that changes the account in the path.
    private func changing(
        _ verb: String, _ router: Router<BasicRequestContext>,
        _ body: @escaping @Sendable (BrowserSessions.Session, Login, Form) async throws -> Response
    ) {
        router.post("accounts/:login/\(verb)") { request, context in
            try await submitted(request, context) { session, form in
                guard let login = try await login(session, context) else { return AccountPage.missing() }
                return try await body(session, login, form)
            }
        }
    }

    /// Accepts a form from this session's own pages only. Any other site can send a form with this browser's cookies,
    /// but does not know the session's form token.
    private func submitted(
        _ request: Request, _ context: BasicRequestContext,
        _ body: (BrowserSessions.Session, Form) async throws -> Response
    ) async throws -> Response {
        guard let session = sessions.session(of: cookies.session(of: request)) else { return Self.leads(to: nil) }
        guard isOurs(request), let form = try? await Form(request, context), let token = form.token,
            token.isSame(as: session.formToken)
        else { return HTML.page("Not accepted", status: .forbidden, "<h1>This form was not sent from our page</h1>") }
        do {
            return try await body(session, form)
        } catch let error as VaultError {
            return Self.leads(to: Notice(error))
        }
    }

    /// Browsers send the origin with each posted form.
    private func isOurs(_ request: Request) -> Bool {
        request.headers[.origin].map { $0 == settings.publicURL } ?? true
    }

    static func leads(to notice: Notice?) -> Response {
        let query = notice.map { "?notice=\($0.rawValue)" } ?? ""
        return Response(status: .seeOther, headers: [.location: place + query, .cacheControl: "no-store"])
    }
}

extension String {
    fileprivate var trimmed: String {
        String(drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
    }

    /// Compares in constant time.
    fileprivate func isSame(as other: String) -> Bool {
        utf8.count == other.utf8.count && zip(utf8, other.utf8).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
