import OAuthClient
import TokenVault

extension Vault {
    /// Refuses a refresh token that another login of the user has, or that one has spent: the provider would get it
    /// twice.
    func refuse(
        _ token: RefreshToken, ofUser user: String, at provider: String, otherThan login: LoginID? = nil
    ) async throws {
        guard
            let (other, hasSpentIt) = try await self.login(
                knowing: token, ofUser: user, at: provider, otherThan: login)
        else { return }
        guard !hasSpentIt else {
            throw Failure(
                .usage, code: "alreadySpent",
                "the login \(other) of this user had this refresh token, and has renewed it: sent again, it can end the grant",
                hints: [
                    "use the login as it is: vaultctl login show \(other)",
                    "if its tokens no longer work, ask the user to log in again: vaultctl login begin --into \(other)",
                ])
        }
        throw Failure(
            .usage, code: "alreadyThere", "the login \(other) of this user has this refresh token already",
            hints: [
                "use that login: vaultctl login show \(other)",
                "if another token was meant, check the file: two logins with one token lose their grant",
            ])
    }
}
