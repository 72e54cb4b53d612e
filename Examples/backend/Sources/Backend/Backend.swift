import FoundationEssentials
import Hummingbird
import Logging
import ServiceLifecycle
import TokenVault
import TokenVaultHTTP
import TokenVaultHummingbird
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
                observers: [Watcher(logger: logger)]))
        let (users, api) = (service.users, AuthorizingClient(users: service.users))
        let sessions = BrowserSessions(usesTLS: settings.usesTLS)

        let router = Router()
        router.add(middleware: VaultErrorMiddleware())
        let routes = try vaultRoutes(users, sessions, settings)
        routes.addLogIn(to: router)
        routes.addHealth(to: router)
        var json = routes
        json.prefix = "/api"
        json.addAccounts(to: router)
        AccountRoutes(routes: routes, sessions: sessions, settings: settings).add(to: router)
        ProfileRoutes(api: api, sessions: sessions, apiURL: settings.apiURL).add(to: router)
        let server = Application(
            router: router, configuration: .init(address: .hostname("127.0.0.1", port: settings.port)),
            logger: logger)

        // The last one shuts down first: the server accepts no more requests, and the vault finishes work in progress.
        try await ServiceGroup(
            services: [service, api, server], gracefulShutdownSignals: [.sigterm, .sigint], logger: logger
        ).run()
    }

    /// The routes of the library, with what this service answers.
    private static func vaultRoutes(
        _ users: UserManager, _ sessions: BrowserSessions, _ settings: Settings
    ) throws -> VaultRoutes<BasicRequestContext> {
        let providers: KeyValuePairs = [settings.provider: settings.redirectURI]
        var routes = try VaultRoutes<BasicRequestContext>(users: users, providers: providers) { request, _ in
            sessions.session(of: request)?.user
        }
        routes.afterLogIn = { done, _, _ in
            if let notice = done.context["notice"] { return AccountRoutes.leads(to: Notice(rawValue: notice)) }
            return Response(status: .seeOther, headers: [.location: "/profile", .cacheControl: "no-store"])
        }
        routes.answer = { error, request, _ in
            let isPage = request.uri.path == "/callback" && sessions.session(of: request) != nil
            return isPage ? AccountRoutes.leads(to: Notice(error)) : Response(error)
        }
        return routes
    }
}
