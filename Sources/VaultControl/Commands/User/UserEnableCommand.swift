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
        try await VaultAccess(global, invocation).manage { try await $0.enableUser(tenant.user(id)) }
        try invocation.emit(Sheet([.data("enabled", id)]), text: "")
        invocation.note(
            "enabled user \(Printable.shortened(tenant.user(id))); their logins stay ended; log the user in: vaultctl login begin"
        )
    }
}
