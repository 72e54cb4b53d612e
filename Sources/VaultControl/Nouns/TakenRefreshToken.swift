import OAuthClient
import TokenVault

extension Vault {
    /// Refuses a refresh token that another login of the user has: the provider would get it twice.
    func refuse(
        _ token: RefreshToken, ofUser user: String, at provider: String, otherThan login: LoginID? = nil
    ) async throws {
        guard let other = try await self.login(having: token, ofUser: user, at: provider, otherThan: login) else {
            return
        }
        throw Failure(
            .usage, code: "alreadyThere", "the login \(other) of this user has this refresh token already",
            hints: [
                "use that login: vaultctl login show \(other)",
                "if another token was meant, check the file: two logins with one token lose their grant",
            ])
    }
}
