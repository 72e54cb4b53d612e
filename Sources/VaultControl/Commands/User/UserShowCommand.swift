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
        let sheets = logins.map { LoginFacts.sheet($0, now: invocation.now) }
        let table = invocation.text(Table(LoginFacts.headings, sheets))
        try invocation.emit(
            Sheet([.data("user", UserFacts.sheet(user)), .data("logins", sheets)]),
            text: invocation.text(UserFacts.sheet(user)) + (table.isEmpty ? "" : "\n" + table))
    }
}
