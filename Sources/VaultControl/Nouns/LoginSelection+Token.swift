import TokenVault

extension UserManager {
    /// A good token of the login that is meant, with what there is to choose from where that is not clear.
    func token(of choice: LoginSelection.Choice, _ request: TokenRequest) async throws -> VaultToken {
        switch choice {
        case .login(let id):
            return try await accessToken(for: .login(id), request)
        case .user(let user):
            do {
                return try await accessToken(for: .user(user), request)
            } catch let error as VaultError {
                // None of a disabled user's logins would do.
                if error.code == .ambiguousLogin, try await !vault.user(user).isEnabled {
                    throw Failure(.userDisabled, "the user is disabled")
                }
                throw await LoginSelection.explained(error, user, vault)
            }
        }
    }
}
