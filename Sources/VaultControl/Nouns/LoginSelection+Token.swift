import HTTPTypes
import TokenVault

extension LoginSelection {
    /// Adds the login's provider to the hints' commands.
    static func naming(_ error: VaultError, _ choice: Choice, _ vault: Vault) async -> Failure {
        let login: LoginID? =
            switch choice {
            case .login(let id): id
            case .user(let user): try? await vault.onlyLogin(ofUser: user)
            }
        guard let login else { return Failure(error) }
        return await Failure(error).naming(try? await vault.login(login).provider, in: vault)
    }
}

extension UserManager {
    /// A valid token of the selected login. If the selection is ambiguous, the error lists the choices.
    ///
    /// - Parameter outgoing: the request that will carry the token; throws if the token may not be sent there.
    func token(
        of choice: LoginSelection.Choice, _ request: TokenRequest, sentWith outgoing: HTTPRequest? = nil
    ) async throws -> VaultToken {
        func token(_ login: LoginRef) async throws -> VaultToken {
            do {
                guard let outgoing else { return try await accessToken(for: login, request) }
                return try await accessToken(for: login, request, sentWith: outgoing)
            } catch let error as VaultError where error.answer != nil || error.code == .tryLater {
                throw await LoginSelection.naming(error, choice, vault)
            }
        }
        switch choice {
        case .login(let id):
            return try await token(.login(id))
        case .user(let user):
            do {
                return try await token(.user(user))
            } catch let error as VaultError {
                // No login of a disabled user would work.
                if error.code == .ambiguousLogin, try await !vault.user(user).isEnabled {
                    throw Failure(.userDisabled, "the user is disabled")
                }
                throw await LoginSelection.explained(error, user, vault)
            }
        }
    }
}
