import ArgumentParser
import TokenVault

struct UserShowCommand: VaultCommand {
    static let configuration = CommandConfiguration(commandName: "show", abstract: "Show a user and their logins.")

    @Argument(help: "The user's id.")
    var id: String

    @OptionGroup var tenant: TenantOption

    @OptionGroup(title: GlobalOptions.title) var global: GlobalOptions

    func run(_ invocation: Invocation) async throws {
        let (user, logins) = try await VaultAccess(global, invocation).open { vault in
            await (try vault.user(tenant.user(id)), try vault.logins(ofUser: tenant.user(id), limit: 1_000))
        }
        let records = logins.map { LoginView.record($0, now: invocation.now) }
        let table = invocation.text(Table(LoginView.headings, records))
        try invocation.emit(
            OutputRecord([.data("user", UserView.record(user)), .data("logins", records)]),
            text: invocation.text(UserView.record(user)) + (table.isEmpty ? "" : "\n" + table))
    }
}
