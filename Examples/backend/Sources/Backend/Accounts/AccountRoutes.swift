import HTTPTypes
import Hummingbird
import TokenVault
import TokenVaultHummingbird

/// The routes on which people see their connected accounts, connect more, and disconnect them.
struct AccountRoutes: Sendable {
    let routes: VaultRoutes<BasicRequestContext>
    let sessions: BrowserSessions
    let settings: Settings

    private var users: UserManager { routes.users }

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
                sessions.end(request)
                return Self.leads(to: .signedOut)
            }
        }
        router.post("accounts/connect") { request, context in
            try await submitted(request, context) { session, form in
                try await routes.begin(
                    LogInRequest(
                        userId: session.user, provider: form.provider ?? settings.provider,
                        redirectURI: settings.redirectURI, label: form.label?.trimmed, loginHint: session.user,
                        context: ["notice": Notice.connected.rawValue]), request)
            }
        }
        router.get("accounts/:login/disconnect") { request, context in
            guard let session = sessions.session(of: request) else { return Self.leads(to: nil) }
            do {
                return try await page(session).confirmation(login(session, context))
            } catch let error as VaultError where error.code == .unknownLogin {
                return AccountPage.missing()
            }
        }
        changing("reconnect", router) { login, _, request in
            // The login keeps its id, its name and its dependent data; its old grant is revoked.
            try await routes.begin(
                LogInRequest(
                    into: .login(login.id), redirectURI: settings.redirectURI, loginHint: login.userId,
                    context: ["notice": Notice.reconnected.rawValue]), request)
        }
        changing("rename", router) { login, form, _ in
            try await users.setLabel(form.label?.trimmed, of: .login(login.id))
            return Self.leads(to: .renamed)
        }
        changing("disconnect", router) { login, _, _ in
            let report = try await users.logOut(.login(login.id))
            return Self.leads(to: report.isComplete ? .disconnected : .disconnecting)
        }
    }

    // MARK: The page's content

    private func overview(_ request: Request) async throws -> Response {
        let notice = request.uri.queryParameters["notice"].flatMap { Notice(rawValue: String($0)) }
        guard let session = sessions.session(of: request) else { return AccountPage.signIn(notice) }
        var accounts: [Login] = []
        for account in try await routes.accounts(of: session.user) where account.state != "damaged" {
            accounts.append(try await routes.account(account.id, of: session.user))
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
    private func login(_ session: BrowserSessions.Session, _ context: BasicRequestContext) async throws -> Login {
        try await routes.account(context.parameters.get("login"), of: session.user)
    }

    private func signIn(_ request: Request, _ context: BasicRequestContext) async throws -> Response {
        var response = Self.leads(to: nil)
        if !routes.isFromOtherSite(request), let form = try? await Form(request, context),
            let user = form.user?.trimmed,
            user.utf8.count <= 100
        {
            response.setCookie(sessions.begin(user))
        }
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
        _ body: @escaping @Sendable (Login, Form, Request) async throws -> Response
    ) {
        router.post("accounts/:login/\(verb)") { request, context in
            try await submitted(request, context) { try await body(try await login($0, context), $1, request) }
        }
    }

    /// Accepts a form from this session's own pages only. Any other site can send a form with this browser's cookies,
    /// but does not know the session's form token.
    private func submitted(
        _ request: Request, _ context: BasicRequestContext,
        _ body: (BrowserSessions.Session, Form) async throws -> Response
    ) async throws -> Response {
        guard let session = sessions.session(of: request) else { return Self.leads(to: nil) }
        guard !routes.isFromOtherSite(request), let form = try? await Form(request, context), let token = form.token,
            token.isSame(as: session.formToken)
        else { return HTML.page("Not accepted", status: .forbidden, "<h1>This form was not sent from our page</h1>") }
        do {
            return try await body(session, form)
        } catch let error as VaultError {
            return error.code == .unknownLogin ? AccountPage.missing() : Self.leads(to: Notice(error))
        }
    }

    static func leads(to notice: Notice?) -> Response {
        let query = notice.map { "?notice=\($0.rawValue)" } ?? ""
        return Response(status: .seeOther, headers: [.location: "/accounts" + query, .cacheControl: "no-store"])
    }
}

extension String {
    /// Nil if nothing is left.
    fileprivate var trimmed: String? {
        let text = String(drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
        return text.isEmpty ? nil : text
    }

    /// Compares in constant time.
    fileprivate func isSame(as other: String) -> Bool {
        utf8.count == other.utf8.count && zip(utf8, other.utf8).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
