import ArgumentParser
import TokenVault

/// What the commands have in common that end all logins of a user.
struct UserEnding: ParsableArguments {
    @Argument(help: "The user's id.")
    var id: String

    @OptionGroup var confirmation: ConfirmationOptions

    /// - Parameters:
    ///   - question: what will be done, of the user and of his logins, as in `Erase user alice and 2 logins`.
    ///   - deed: what was done, such as `erased`.
    func run(
        asking question: (_ user: String, _ logins: String) -> String, done deed: String, _ access: VaultAccess,
        _ body: (UserManager, String) async throws -> RevocationReport
    ) async throws {
        let name = Printable.shortened(id)
        let report = try await access.manage { users in
            let user = try users.vault.user(id)
            try confirmation.require(question(name, Count.of(user.logins.count, "login")), access.invocation)
            return try await body(users, id)
        }
        try RevocationFacts.emit(report, done: "\(deed) user \(name)", access.invocation)
    }
}
