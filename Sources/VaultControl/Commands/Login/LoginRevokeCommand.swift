import ArgumentParser
import TokenVault

struct LoginRevokeCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke",
        abstract: "End a login here and at its provider.",
        discussion: """
            The tokens are unusable here at once. Exit code 3 says that the provider has not confirmed yet; the \
            revocation is kept in the vault until it has.
            """)

    @OptionGroup var selection: LoginSelection
    @OptionGroup var confirmation: ConfirmationOptions
    @OptionGroup var global: GlobalOptions

    func run(_ invocation: Invocation) async throws {
        let (login, report) = try await VaultAccess(global, invocation).manage { users in
            let login = try selection.find(in: users.vault)
            try confirmation.require("Revoke \(LoginFacts.name(login))", invocation)
            return (login, try await users.logOut(login: login.id))
        }
        try RevocationFacts.emit(report, done: "revoked \(LoginFacts.name(login))", invocation)
    }
}
