import ArgumentParser
import TokenVault

struct LoginRemoveCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Forget a login without notifying its provider.",
        discussion: "The grant stays valid at the provider until it expires; vaultctl login revoke ends it there, too.")

    @OptionGroup var selection: LoginSelection
    @OptionGroup var damaged: DamagedLoginOptions
    @OptionGroup var confirmation: ConfirmationOptions
    @OptionGroup(title: GlobalOptions.title) var global: GlobalOptions

    func run(_ invocation: Invocation) async throws {
        let login = try await VaultAccess(global, invocation).manage { users in
            switch try await damaged.find(selection, in: users.vault) {
            case .login(let login):
                try confirmation.require("Forget \(LoginView.name(login))", invocation)
                try await users.logOut(.login(login.id), revokes: false)
                ReturningRows.warn(of: login, invocation)
                return (id: login.id, name: LoginView.name(login))
            case .damaged(let id, _):
                _ = try await damaged.discard(id, in: users.vault, confirmation, invocation)
                return (id: id, name: "damaged login \(id)")
            }
        }
        try invocation.emit(OutputRecord([.data("removed", login.id)]), text: "")
        invocation.note("removed \(login.name)")
    }
}
