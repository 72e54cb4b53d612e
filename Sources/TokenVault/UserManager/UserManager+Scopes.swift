public import OAuthClient
import VaultStorage

extension UserManager {
    /// What a login lacks of a scope: ask the user for it with ``LogInRequest``'s `adding`, which keeps what was granted.
    ///
    /// ```swift
    /// if let missing = try await users.missingScopes(.user("alice"), Scope("calendar.write")) {
    ///     let request = try await users.beginLogIn(LogInRequest(into: .user("alice"), adding: missing))
    /// }
    /// ```
    ///
    /// - Returns: Nil if all of it was granted. A login whose grant is unknown, because neither the provider nor the app has
    ///   named it, is taken to lack everything.
    public func missingScopes(_ login: LoginRef, _ wanted: Scope) async throws -> Scope? {
        let stored = try await stored(login)
        let granted = Set(Scope(stored: stored.session.grantedScope)?.tokens ?? [])
        let missing = wanted.tokens.filter { !granted.contains($0) }
        return missing.isEmpty ? nil : try VaultError.translatingValues { try Scope(tokens: missing) }
    }

    private func stored(_ login: LoginRef) async throws -> StoredLogin {
        let handle = try await handle(of: login)
        return try await VaultError.translating { try await vault.store.login(handle) }
    }
}
