import ArgumentParser
import TokenVault

struct UserEraseCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "erase",
        abstract: "End all logins of a user and destroy what the vault knows of him.",
        discussion: """
            His key is destroyed, so that nothing of him can be read from this file again. A backup made earlier still \
            holds it, until the root key of that time is retired.
            """)

    @Argument(help: "The user's id.")
    var id: String

    @OptionGroup var confirmation: ConfirmationOptions
    @OptionGroup var global: GlobalOptions

    func run(_ invocation: Invocation) async throws {
        let report = try await VaultAccess(global, invocation).manage { users in
            let user = try users.vault.user(id)
            try confirmation.require(
                "Erase user \(Printable.shortened(id)) and \(Count.of(user.logins.count, "login"))", invocation)
            return try await users.eraseUser(id)
        }
        try RevocationFacts.emit(report, done: "erased user \(Printable.shortened(id))", invocation)
    }
}
