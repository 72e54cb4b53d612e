public import Hummingbird
import Logging
import OAuthClient
public import TokenVault

extension VaultRoutes {
    /// Adds `/accounts` and what is below it.
    public func addAccounts(to router: some RouterMethods<Context>) {
        let group = answering(router)
        group.get(RouterPath(prefix + "/accounts")) { request, context in
            guard let user = try await signedIn(request, context) else {
                return try await notSignedIn(request, context)
            }
            let list = ["accounts": try await accounts(of: user)]
            var response = try list.response(from: request, context: context)
            response.headers[.cacheControl] = "no-store"
            return response
        }
        group.post(RouterPath(prefix + "/accounts/:account/reconnect")) { request, context in
            try await changing(request, context) { login in
                let provider = try provider(named: login.provider)
                let logIn = LogInRequest(
                    into: .login(login.id), redirectURI: provider.redirectURI, context: try returnTo(of: request))
                return try await begin(logIn, request)
            }
        }
        let logOut: @Sendable (Request, Context) async throws -> Response = { request, context in
            try await changing(request, context) { login in
                try await afterLogOut(login, try await users.logOut(.login(login.id)), request, context)
            }
        }
        group.post(RouterPath(prefix + "/accounts/:account/logout"), use: logOut)
        group.delete(RouterPath(prefix + "/accounts/:account"), use: logOut)
    }

    /// A user's accounts, in the order of their ids. None for a user that the vault does not know.
    public func accounts(of userId: String) async throws -> [VaultAccount] {
        var accounts: [VaultAccount] = []
        var filter = LoginFilter(userId: userId)
        filter.tenant = users.tenant
        do {
            for try await entry in users.vault.logins(where: filter) { accounts.append(VaultAccount(entry)) }
        } catch let error as VaultError where error.code == .unknownUser {}
        return accounts
    }

    /// An account of this user, by the text of its id.
    ///
    /// - Throws: `VaultError`, code `unknownLogin`, also for an account of another user.
    public func account(_ id: String?, of userId: String) async throws -> Login {
        // Compared as bytes: for the vault, two spellings of an accent are two users.
        guard let id = id.flatMap(LoginID.init), case let login = try await users.vault.login(id, of: users.tenant),
            login.userId.utf8.elementsEqual(userId.utf8)
        else { throw VaultError(.unknownLogin, "the user has no such account") }
        return login
    }

    private func changing(
        _ request: Request, _ context: Context, _ body: (Login) async throws -> Response
    ) async throws -> Response {
        guard !isFromOtherSite(request) else { return .json(.forbidden, #"{"error":"fromOtherSite"}"#) }
        guard let user = try await signedIn(request, context) else { return try await notSignedIn(request, context) }
        return try await body(try await account(context.parameters.get("account"), of: user))
    }

    /// Adds `/health/live` and `/health/ready`. A provider's outage does not make a service unready: valid tokens are served.
    public func addHealth(to router: some RouterMethods<Context>) {
        router.get("/health/live") { _, _ in Response.json(.ok, #"{"status":"live"}"#) }
        router.get("/health/ready") { _, context in
            do {
                try await users.vault.checkReadiness()
                return Response.json(.ok, #"{"status":"ready"}"#)
            } catch let error as VaultError {
                context.logger.warning("not ready", metadata: ["error": "\(error.code)", "reason": "\(error.message)"])
                return Response.json(.serviceUnavailable, #"{"status":"notReady","error":"\#(error.code)"}"#)
            }
        }
    }
}

/// A connected account, as `GET /accounts` shows it: `{"accounts":[…]}`.
public struct VaultAccount: Encodable, Sendable, Equatable {
    public let id: String
    public let provider, label: String?
    /// A `LoginStanding`, such as `established` or `dead`; `damaged` if its row cannot be opened.
    public let state: String
    /// Whether the user must connect it again. Outages pass on their own.
    public let needsUser: Bool

    public init(_ entry: LoginEntry) {
        switch entry {
        case .damaged(let id, _):
            (self.id, provider, label, state, needsUser) = (id.description, nil, nil, "damaged", false)
        case .login(let login):
            (id, provider, label) = (login.id.description, login.provider, login.label)
            state = login.standing.rawValue
            needsUser = [.dead, .needsUser, .terminated].contains(login.standing)
        }
    }
}
