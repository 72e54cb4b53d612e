import ArgumentParser
import TokenVault

/// Shared by the commands that end all logins of a user.
struct UserEnding: ParsableArguments {
    @Argument(help: "The user's id.")
    var id: String

    @OptionGroup var tenant: TenantOption

    @Flag(help: "The user belongs to no tenant, although a tenant's user is shown in the same way.")
    var noTenant = false

    @OptionGroup var confirmation: ConfirmationOptions

    func validate() throws {
        guard !noTenant || tenant.tenant == nil else {
            throw ValidationError("--tenant and --no-tenant cannot be combined")
        }
    }

    /// - Parameters:
    ///   - verb: the command's, as in `erase`.
    ///   - question: the action on the user and their logins, as in `Erase user alice and 2 logins`.
    ///   - body: performs it; also returns what was done to the user, such as `erased`, and further facts for programs.
    ///   - endsDamaged: whether it also applies to a user whose row cannot be opened.
    func run(
        endsDamaged: Bool = false, as verb: String, asking question: (_ user: String, _ logins: String) -> String,
        _ access: VaultAccess,
        _ body: (UserManager, String) async throws -> (report: RevocationReport, deed: String, facts: OutputRecord)
    ) async throws {
        let id = qualified
        let (done, name, earlier) = try await access.manage { users in
            let isLookalike = try await refuseTwin(verb, in: users.vault)
            let name = Printable.shortened(id) + (isLookalike ? " (of no tenant)" : "")
            await RevocationView.warnOfOriginal(users.vault, access.invocation)
            try await confirmation.require(
                question(name, try logins(of: id, in: users.vault, endsDamaged: endsDamaged)), access.invocation)
            let earlier = try await revocationsWaiting(in: users.vault)
            return (try await body(users, id), name, earlier)
        }
        try RevocationView.emit(
            done.report, done: "\(done.deed) user \(name)", adding: done.facts, earlier: earlier, access.invocation)
    }

    /// Refuses an id that names two users, as lists show them.
    ///
    /// - Parameter verb: what is done to the user, as in `erase`.
    @discardableResult
    func refuseTwin(_ verb: String, in vault: Vault) async throws -> Bool {
        guard !noTenant else { return try await TenantLookalike(id, in: vault) != nil }
        return try await TenantLookalike.refuseTwin(
            of: id, tenant.tenant, in: vault, command: "vaultctl user \(verb)", hint: "add --no-tenant")
    }

    /// How many revocations of the user's logins that ended before are not confirmed; none if the user's row cannot be
    /// opened.
    func revocationsWaiting(in vault: Vault) async throws -> Int {
        guard let handle = try? await vault.user(qualified).handle else { return 0 }
        return try await vault.revocationsWaiting(ofUser: handle)
    }

    /// The user's name in the vault.
    var qualified: String { tenant.user(id) }

    private func logins(of id: String, in vault: Vault, endsDamaged: Bool) async throws -> String {
        do {
            return await Count.of(try vault.user(id).logins.count, "login")
        } catch let error as VaultError where error.code == .quarantined && endsDamaged {
            return "all logins, none of which can be read or revoked"
        } catch let error as VaultError where error.code == .unknownUser {
            let pending = try await vault.pendingLogIns(of: id)
            guard pending > 0 else { throw error }
            guard endsDamaged else {
                // Once it is completed, they are there, and not disabled.
                throw Failure(
                    .unknownUser,
                    "the vault has no user \(Printable.named(id)) yet, and \(Count.of(pending, "pending log-in")) of theirs",
                    hints: ["to end what is pending: vaultctl user erase \(Printable.argument(id))"])
            }
            return Count.of(pending, "pending log-in")
        }
    }
}
