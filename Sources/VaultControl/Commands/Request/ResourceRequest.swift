import LoopbackRedirect
import OAuthClient
import TokenVault
import TokenVaultHTTP
import TokenVaultResources

/// A request for which the user may have to log in, where the API says.
struct ResourceRequest {
    let users: UserManager
    let user: String
    let url: String
    let browser: BrowserLogIn

    /// The user's login for this API; a new one if there is none. One that is for no resource is not taken: its tokens may be
    /// good elsewhere.
    func login() async throws -> LoginID {
        let target = try EndpointURL(url, allowsInsecureLoopback: true)
        var found: [(login: LoginID, isGood: Bool, resource: String)] = []
        for id in try await logins() {
            let login = try await users.vault.login(id)
            guard let resource = login.resource, try ResourceIdentifier(stored: resource).covers(target) else {
                continue
            }
            found.append((id, ![.dead, .terminated, .needsUser].contains(login.standing), resource))
        }
        // The one that is for the least besides this URL, if it is of use.
        let best = found.max {
            ($0.isGood ? 1 : 0, $0.resource.utf8.count) < ($1.isGood ? 1 : 0, $1.resource.utf8.count)
        }
        if let best { return best.login }
        let logIn = ResourceLogIn(userId: user, resource: url)
        return try await browser.logIn(users) { try await begin(logIn, $0) }.login.id
    }

    private func logins() async throws -> [LoginID] {
        do {
            return try await users.vault.user(users.tenant?.qualify(user) ?? user).logins
        } catch let error as VaultError where error.code == .unknownUser {
            return []
        }
    }

    /// Logs the user in again if the reply says that this would help. False: it does not.
    func logIn(after response: ResourceResponse, into login: LoginID) async throws -> Bool {
        if let scope = response.missingScope, !scope.isEmpty {
            let known = try await users.resource(of: .login(login))
            let provider = try await users.vault.provider(named: known.provider, of: users.tenant)
            _ = try await browser.logIn(users) { listen in
                try await users.beginLogIn(
                    LogInRequest(
                        into: .login(login), redirectURI: listen(LoopbackRedirectURI.standard.ofProvider(provider)),
                        adding: scope))
            }
            return true
        }
        guard response.head.status == .unauthorized, try await users.resource(of: .login(login)).resource != nil else {
            return false
        }
        try await logIn(again: ResourceLogIn(into: .login(login), refusedWith: response.head))
        return true
    }

    /// The login has no token any more, and its user can change that.
    func logInAgain(into login: LoginID) async throws { try await logIn(again: ResourceLogIn(into: .login(login))) }

    private func logIn(again logIn: ResourceLogIn) async throws {
        _ = try await browser.logIn(users) { try await begin(logIn, $0) }
    }

    private func begin(_ logIn: ResourceLogIn, _ listen: BrowserLogIn.Listen) async throws -> AuthorizationRequest {
        try await users.beginLogIn(logIn, as: try .vaultctl(at: .standard)) { provider in
            try await listen(LoopbackRedirectURI.standard.ofProvider(provider))
        }
    }
}
