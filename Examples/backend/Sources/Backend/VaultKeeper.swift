import ServiceLifecycle
import TokenVault
import TokenVaultHTTP

/// Closes the vault when everything that uses it has ended. Renewals under way are finished first: their replies may hold
/// the only next refresh token.
struct VaultKeeper: Service {
    let vault: Vault
    let api: AuthorizingClient

    func run() async throws {
        try? await gracefulShutdown()
        await api.shutdown()
        await vault.close()
    }
}
