import ArgumentParser
import TokenVault

struct UserDisableCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "disable", abstract: "End all logins of a user, and let no new one begin until he is enabled.")

    @Argument(help: "The user's id.")
    var id: String

    @OptionGroup var confirmation: ConfirmationOptions
    @OptionGroup var global: GlobalOptions

    func run(_ invocation: Invocation) async throws {
        let report = try await VaultAccess(global, invocation).manage { users in
            let user = try users.vault.user(id)
            try confirmation.require(
                "Disable user \(Printable.shortened(id)) and end \(Count.of(user.logins.count, "login"))", invocation)
            return try await users.disableUser(id)
        }
        try RevocationFacts.emit(report, done: "disabled user \(Printable.shortened(id))", invocation)
    }
}
