package import OAuthClient
import VaultStorage

/// The protected resource that a login is for, and where its user logged in.
package struct LoginResource: Sendable {
    /// Nil: the login is for none alone.
    package let resource: String?
    package let provider: String
    package let issuer: String?
    /// All that was granted, and that the last log-in asked for.
    package let scope: Scope?
}

extension UserManager {
    package func resource(of login: LoginRef) async throws -> LoginResource {
        let (stored, provider) = try await replaceable(login)
        let tokens = [stored.session.grantedScope, stored.session.requestedScope]
            .flatMap { Scope(stored: $0)?.tokens ?? [] }
        return LoginResource(
            resource: stored.session.resource, provider: names.plain(provider: provider.record.name),
            issuer: provider.record.issuer, scope: tokens.isEmpty ? nil : try? Scope(tokens: tokens))
    }

    /// Notes that the resource of a login names another authorization server than the login's: its tokens are given out no more,
    /// and nothing is sent for it before the user has logged in again.
    package func noteMoved(_ login: LoginRef) async throws {
        let handle = try await handle(of: login)
        let now = vault.now
        try await vault.updateLogin(handle) { state in
            guard state.session.isLiving, state.session.failure == nil else { return }
            state.session.reject(.own, state.session.accessGeneration ?? state.position.generation)
            for token in state.session.resourceTokens { state.session.reject(token.target, token.generation) }
            state.session.hasMoved = true
            state.needUser(because: .resourceMoved, at: now)
        }
    }

    /// The providers that this manager's users can log in at, under their names.
    package func providers() async throws -> [Provider] {
        try await vault.providers(of: names.tenant).filter { tenant != nil || Tenant.of($0.name) == nil }
    }

    /// Refuses a user who may not log in, before a stranger's server is asked anything.
    package func requireMayLogIn(_ userId: String) async throws { try await refuseDisabled(names.user(userId).text) }
}
