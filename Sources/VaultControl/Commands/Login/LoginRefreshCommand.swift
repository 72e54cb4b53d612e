import ArgumentParser
import TokenVault

struct LoginRefreshCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "refresh", abstract: "Renew a login now, even if its access token is still valid.")

    @OptionGroup var selection: LoginSelection
    @OptionGroup(title: GlobalOptions.title) var global: GlobalOptions

    func run(_ invocation: Invocation) async throws {
        let token = try await VaultAccess(global, invocation).manage { users in
            let login = try await selection.find(in: users.vault)
            do {
                return try await users.accessToken(for: .login(login.id), .renewed)
            } catch let error as VaultError {
                throw await Failure(error).naming(login.provider, in: users.vault)
            }
        }
        try invocation.emit(TokenView.record(token, now: invocation.now))
    }
}
