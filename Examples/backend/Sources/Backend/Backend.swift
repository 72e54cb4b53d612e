import Hummingbird
import Logging
import ServiceLifecycle
import TokenVault
import TokenVaultHTTP
import UnixSignals

/// A service that acts for its users at another company's API.
@main
struct Backend {
    static func main() async throws {
        let settings = try Settings()
        var logger = Logger(label: "backend")
        logger.logLevel = settings.logLevel
        let vault = try await Vault.open(
            at: settings.vaultPath, unlockedBy: .keyFile(settings.keyFile), options: VaultOptions(logger: logger))
        let users = try await UserManager(
            vault: vault,
            transport: AsyncHTTPTransport(options: .init(allowsInsecureLoopback: settings.allowsInsecureLoopback)),
            options: UserManagerOptions(allowsInsecureLoopback: settings.allowsInsecureLoopback))
        let api = AuthorizingClient(users: users)

        let sessions = BrowserSessions()
        let router = Router()
        LogInRoutes(users: users, sessions: sessions, settings: settings).add(to: router)
        ProfileRoutes(users: users, api: api, sessions: sessions, apiURL: settings.apiURL).add(to: router)
        HealthRoutes(vault: vault).add(to: router)
        let server = Application(
            router: router, configuration: .init(address: .hostname("127.0.0.1", port: settings.port)),
            logger: logger)

        // What is last here is shut down first: the server takes no more requests, the scheduler finishes what it has begun,
        // and only then the vault is closed.
        let services: [any Service] = [VaultKeeper(vault: vault, api: api), RenewalScheduler(users), server]
        try await ServiceGroup(
            services: services, gracefulShutdownSignals: [.sigterm, .sigint], logger: logger
        ).run()
    }
}
