import ArgumentParser
import TokenVault

struct LoginRevokeCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke",
        abstract: "End a login here and at its provider.",
        discussion: """
            The tokens are unusable here at once. Exit code 3 means that the provider has not confirmed yet; the vault \
            keeps the revocation until it has.
            """)

    @OptionGroup var selection: LoginSelection
    @OptionGroup var damaged: DamagedLoginOptions
    @OptionGroup var confirmation: ConfirmationOptions
    @OptionGroup(title: GlobalOptions.title) var global: GlobalOptions

    func run(_ invocation: Invocation) async throws {
        let (done, report) = try await VaultAccess(global, invocation).manage { users in
            switch try await damaged.find(selection, in: users.vault) {
            case .login(let login):
                await RevocationView.warnOfOriginal(
                    users.vault, alone: "vaultctl login remove \(login.id)", invocation)
                try confirmation.require("Revoke \(LoginView.name(login))", invocation)
                let done =
                    StateWords.terminationReason(login).map {
                        "removed the terminated \(LoginView.name(login)), with its reason \(Printable.shortened($0))"
                    } ?? "ended \(LoginView.name(login))"
                let report = try await users.logOut(.login(login.id))
                ReturningRows.warn(of: login, invocation)
                return (done, report)
            case .damaged(let id, _):
                let report = try await damaged.discard(id, in: users.vault, confirmation, invocation)
                return ("discarded damaged login \(id)", report)
            }
        }
        try RevocationView.emit(report, done: done, invocation)
    }
}
