import VaultStorage

extension Vault {
    /// The login that is meant.
    ///
    /// - Throws: ``VaultError``: `ambiguousLogin` with the logins to choose from, `quarantined` where a damaged one may be
    ///   meant, `notLoggedIn`, `unknownUser`, `unknownLogin`, `unknownProvider`.
    func session(of login: QualifiedLogin, withKey: Bool = false) async throws -> SessionSnapshot {
        if case .userAtProvider(let userId, let name) = login.choice {
            return try await session(ofUser: userId, atProvider: name, withKey: withKey)
        }
        return try await session(selector(of: login), withKey: withKey)
    }

    private func session(
        ofUser userId: QualifiedUserID, atProvider name: String, withKey: Bool = false
    ) async throws -> SessionSnapshot {
        do throws(StoreError) {
            let known = knownNames.handle(of: name)
            let provider = if let known { known } else { try await store.provider(named: name).handle }
            if known == nil { knownNames.keep(provider, for: name) }
            if let found = try await store.session(ofUser: userId.text, at: provider, withKey: withKey) {
                return found
            }
        } catch {
            throw VaultError(error)
        }
        return try await session(.login(onlyLogin(ofUser: userId, atProvider: name)), withKey: withKey)
    }

    /// How the storage finds the login that is meant. Only for a user at a provider it is looked for here.
    func selector(of login: QualifiedLogin) async throws -> LoginSelector {
        switch login.choice {
        case .login(let id): return .login(id.handle, ofUsers: login.scope.userPrefix)
        case .user(let userId): return .user(userId.text)
        case .userAtProvider(let userId, let name):
            return .login(try await session(ofUser: userId, atProvider: name).login)
        }
    }

    /// The login that is meant. One that is named by its id is read only to see whose it is.
    func handle(of login: QualifiedLogin) async throws -> LoginHandle {
        if case .login(let id) = login.choice, login.scope == .whole { return id.handle }
        return try await session(of: login).login
    }

    /// Logins of one user that are looked at: more than anyone has.
    static let mostLogins = 10_000

    private func onlyLogin(ofUser userId: QualifiedUserID, atProvider name: String) async throws -> LoginHandle {
        let listings = try await VaultError.translating {
            let provider = try await store.provider(named: name).handle
            knownNames.keep(provider, for: name)
            return try await store.logins(ofUser: userId.text, after: nil, limit: Self.mostLogins).filter {
                // One that does not open may be at any provider.
                $0.login.map { $0.provider == provider } ?? true
            }
        }
        let candidates = listings.filterMeant { $0.login?.session }
        let isNone = candidates.allSatisfy { $0.login.map { $0.session.state == .terminated } ?? true }
        if isNone, let damage = listings.compactMap(\.damage).first { throw VaultError(damage) }
        guard let only = candidates.first else {
            throw VaultError(.notLoggedIn, "the user has no login at this provider", hint: "let the user log in")
        }
        guard candidates.count == 1 else {
            throw VaultError(
                StoreError(
                    .ambiguousLogin(candidates.map(\.handle)),
                    "the user has \(candidates.count) logins at this provider and none is named",
                    hint: "name one of them"))
        }
        return only.handle
    }
}
