import ArgumentParser
import TokenVault

struct UserDisableCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "disable",
        abstract: "End all logins of a user, and let no new one begin until the user is enabled.")

    @OptionGroup var ending: UserEnding
    @OptionGroup var global: GlobalOptions

    func run(_ invocation: Invocation) async throws {
        try await ending.run(
            asking: { "Disable user \($0) and end \($1)" }, done: "disabled", VaultAccess(global, invocation)
        ) { try await $0.disableUser($1) }
    }
}
