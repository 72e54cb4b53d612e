import ArgumentParser
import TokenVault

struct UserDisableCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "disable",
        abstract: "End all of a user's logins, and refuse new ones until the user is enabled.")

    @OptionGroup var ending: UserEnding
    @OptionGroup(title: GlobalOptions.title) var global: GlobalOptions

    func run(_ invocation: Invocation) async throws {
        try await ending.run(
            as: "disable", asking: { "Disable user \($0) and end \($1), which enabling the user does not bring back" },
            VaultAccess(global, invocation)
        ) { users, id in
            let deed = try await users.vault.user(id).isEnabled ? "disabled" : "disabled already:"
            return (try await users.disableUser(id), deed, [])
        }
    }
}
