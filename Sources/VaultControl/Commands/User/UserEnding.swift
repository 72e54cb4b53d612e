import ArgumentParser
import TokenVault

/// Shared by the commands that end all logins of a user.
struct UserEnding: ParsableArguments {
    @Argument(help: "The user's id.")
    var id: String

    @OptionGroup var tenant: TenantOption

    @OptionGroup var confirmation: ConfirmationOptions

    /// - Parameters:
    ///   - question: the action on the user and their logins, as in `Erase user alice and 2 logins`.
    ///   - body: performs it; also returns what was done to the user, such as `erased`, and further facts for programs.
    ///   - endsDamaged: whether it also applies to a user whose row cannot be opened.
    func run(
        endsDamaged: Bool = false, asking question: (_ user: String, _ logins: String) -> String,
        _ access: VaultAccess,
        _ body: (UserManager, String) async throws -> (report: RevocationReport, deed: String, facts: OutputRecord)
    ) async throws {
        let (id, name) = (qualified, Printable.shortened(qualified))
        let done = try await access.manage { users in
            try await confirmation.require(
                question(name, try logins(of: id, in: users.vault, endsDamaged: endsDamaged)), access.invocation)
            return try await body(users, id)
        }
        try RevocationView.emit(done.report, done: "\(done.deed) user \(name)", adding: done.facts, access.invocation)
    }

    /// The user's name in the vault.
    var qualified: String { tenant.user(id) }

    private func logins(of id: String, in vault: Vault, endsDamaged: Bool) async throws -> String {
        do {
            return await Count.of(try vault.user(id).logins.count, "login")
        } catch let error as VaultError where error.code == .quarantined && endsDamaged {
            return "all logins, none of which can be read or revoked"
        } catch let error as VaultError where error.code == .unknownUser && endsDamaged {
            let pending = try await vault.pendingLogIns(of: id)
            guard pending > 0 else { throw error }
            return Count.of(pending, "pending log-in")
        }
    }
}
