import ArgumentParser
import TokenVault
import VaultAdministration

/// For commands that end a login: how they treat one that cannot be opened.
struct DamagedLoginOptions: ParsableArguments {
    @Flag(help: "If the login cannot be opened, discard it; its grant stays valid at the provider.")
    var discardDamaged = false

    /// The selected login, even if it is damaged.
    func find(_ selection: LoginSelection, in vault: Vault) async throws -> LoginEntry {
        try await TenantLookalike.refuseTwin(endingLoginsOf: selection.user, selection.tenant, in: vault)
        do {
            return await .login(try selection.find(in: vault))
        } catch let error as VaultError where error.code == .quarantined {
            guard case .login(let id) = try await selection.choice(in: vault) else { throw error }
            guard discardDamaged else {
                throw Failure(
                    error.code,
                    "the login cannot be opened, so its tokens cannot be revoked: \(error.message)",
                    hints: [
                        "see what is left of it: vaultctl damage show \(id)",
                        "discard it: vaultctl damage discard \(id)",
                    ])
            }
            return .damaged(id, error.message)
        }
    }

    func discard(
        _ id: LoginID, in vault: Vault, _ confirmation: ConfirmationOptions, _ invocation: Invocation
    ) async throws -> RevocationReport {
        try confirmation.require("Discard damaged login \(id), whose tokens cannot be revoked", invocation)
        return try await vault.discardDamagedLogin(id)
    }
}
