package import VaultStorage

// Every write of a login and of its user goes this way, so that what follows from a write follows from each of them.
extension Vault {
    /// Notifies handlers under way that their answer is no longer wanted.
    package func supersedeHandlers(of logins: [LoginHandle]) { superseding.fire(logins) }

    /// Changes a login, and leaves it due when it is due.
    ///
    /// - Parameter endings: see ``VaultStore/changeLogin(_:endings:_:)``.
    func change<R: Sendable>(
        _ handle: LoginHandle, endings: Int? = nil, _ body: @escaping @Sendable (inout LoginState) throws -> R
    ) async throws -> R {
        let result = BodyResult<R>()
        try await store.changeLogin(handle, endings: endings) { state in
            result.value = try body(&state)
            state.dueAt = state.nextDue
        }
        guard let value = result.value else { throw StoreError.closed }
        return value
    }

    /// Changes the login that is meant.
    ///
    /// - Throws: As ``session(of:)``, and what the body throws.
    func change<R: Sendable>(
        _ login: QualifiedLogin, _ body: @escaping @Sendable (inout LoginState) throws -> R
    ) async throws -> R {
        let selector = try await selector(of: login)
        do {
            let result = BodyResult<R>()
            try await store.changeLogin(selector) { state in
                result.value = try body(&state)
                state.dueAt = state.nextDue
            }
            guard let value = result.value else { throw StoreError.closed }
            return value
        } catch let error as StoreError {
            throw VaultError(error, choosing: selector)
        } catch {
            throw VaultError.publicError(error)
        }
    }

    /// As ``change(_:_:)``, of a user with all his logins.
    func change<R: Sendable>(
        user id: String, _ body: @escaping @Sendable (inout UserState) throws -> R
    ) async throws -> R {
        try await store.updateUser(id) { state in
            let result = try body(&state)
            for index in state.logins.indices {
                state.logins[index].dueAt = state.status == .active ? state.logins[index].nextDue : nil
            }
            return result
        }
    }

    func insert(_ draft: LoginDraft) async throws -> StoredLogin {
        try await store.insertLogin(scheduled(draft))
    }

    /// Returns the draft of a new login with its due time.
    func scheduled(_ draft: LoginDraft) -> LoginDraft {
        var draft = draft
        let (session, refresh, provider) = (draft.session, draft.refresh, draft.provider)
        draft.schedule = { login in
            DueTime(
                login: login, position: .first, session: session, refresh: refresh, provider: provider,
                isInDoubt: false
            ).instant
        }
        return draft
    }
}
