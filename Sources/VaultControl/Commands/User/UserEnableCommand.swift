import ArgumentParser
import TokenVault

struct UserEnableCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "enable", abstract: "Allow a disabled user to log in again.")

    @Argument(help: "The user's id.")
    var id: String

    @OptionGroup var tenant: TenantOption

    @OptionGroup(title: GlobalOptions.title) var global: GlobalOptions

    func run(_ invocation: Invocation) async throws {
        let user = tenant.user(id)
        let wasEnabled = try await VaultAccess(global, invocation).manage { users in
            let wasEnabled = try await users.vault.user(user).isEnabled
            try await users.enableUser(user)
            return wasEnabled
        }
        try invocation.emit(OutputRecord([.data("enabled", id)]), text: "")
        let name = Printable.shortened(user)
        invocation.note(
            wasEnabled
                ? "user \(name) was not disabled: nothing was changed"
                : "enabled user \(name); their logins stay ended; log the user in: vaultctl login begin")
    }
}
