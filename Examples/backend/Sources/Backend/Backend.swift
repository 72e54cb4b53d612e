import FoundationEssentials
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
        let service = try await VaultService(
            at: settings.vaultPath, unlockedBy: .keyFile(settings.keyFile),
            transport: AsyncHTTPTransport(options: .init(allowsInsecureLoopback: settings.allowsInsecureLoopback)),
            options: VaultServiceOptions(
                vault: VaultOptions(logger: logger),
                observers: [Watcher(file: URL(filePath: settings.vaultPath + ".cursor"), logger: logger)]))
        let users = service.users
        let api = AuthorizingClient(users: users)

        let (sessions, cookies) = (BrowserSessions(), Cookies(settings: settings))
        let router = Router()
        LogInRoutes(users: users, sessions: sessions, cookies: cookies, settings: settings).add(to: router)
        AccountRoutes(users: users, sessions: sessions, cookies: cookies, settings: settings).add(to: router)
        ProfileRoutes(users: users, api: api, sessions: sessions, cookies: cookies, apiURL: settings.apiURL)
            .add(to: router)
        HealthRoutes(vault: service.vault).add(to: router)
        let server = Application(
            router: router, configuration: .init(address: .hostname("127.0.0.1", port: settings.port)),
            logger: logger)

        // The last one shuts down first: the server accepts no more requests, and the vault finishes work in progress.
        try await ServiceGroup(
            services: [service, api, server], gracefulShutdownSignals: [.sigterm, .sigint], logger: logger
        ).run()
    }
}
