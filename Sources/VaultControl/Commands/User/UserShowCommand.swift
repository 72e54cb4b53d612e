import ArgumentParser
import TokenVault

struct UserShowCommand: VaultCommand {
    static let configuration = CommandConfiguration(commandName: "show", abstract: "Show a user and their logins.")

    @Argument(help: "The user's id.")
    var id: String

    @OptionGroup var global: GlobalOptions

    func run(_ invocation: Invocation) async throws {
        let (user, logins) = try await VaultAccess(global, invocation).open { vault in
            (try vault.user(id), try vault.logins(ofUser: id, limit: 1_000))
        }
        var facts = Facts()
        facts.add("user", user.id)
        facts.add("status", user.isEnabled ? "enabled" : "disabled")
        facts.add("since", Instant.words(user.createdAt, now: invocation.now))
        facts.add("logins", String(user.logins.count))
        var table = LoginFacts.table
        for login in logins {
            table.append(LoginFacts.row(login, invocation))
        }
        try invocation.emit(
            json: .object([("user", UserFacts.json(user)), ("logins", .array(logins.map(LoginFacts.json)))]),
            text: facts.text(isTerminal: invocation.isTerminal, style: invocation.style)
                + (logins.isEmpty ? "" : "\n" + table.text(isTerminal: invocation.isTerminal, style: invocation.style)))
    }
}
