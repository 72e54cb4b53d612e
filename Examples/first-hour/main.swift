import Hummingbird
import TokenVault
import TokenVaultHTTP
import TokenVaultHummingbird

// The vault, with the work in the background. Plain http is for a provider on this machine alone.
let service = try await VaultService(
    at: "app.vault", unlockedBy: .keyFile("app.key"),
    transport: AsyncHTTPTransport(options: .init(allowsInsecureLoopback: true)))
let api = AuthorizingClient(users: service.users)

// Your own sessions go here. This page takes a cookie at its word: never do that elsewhere.
let callback = try RedirectURI("http://127.0.0.1:8085/callback")
let routes = try VaultRoutes<BasicRequestContext>(users: service.users, providers: ["dev": callback]) { request, _ in
    request.cookies["user"]?.value
}

let router = Router()
router.add(middleware: VaultErrorMiddleware())
routes.add(to: router)

// Your own work: ask the provider's API on behalf of the user.
router.get("/me") { request, _ in
    guard let user = request.cookies["user"]?.value else { throw HTTPError(.unauthorized) }
    let answer = try await api.get("http://127.0.0.1:9085/resource", for: .user(user))
    // The API refuses the token, and there is no newer one.
    if let failure = answer.renewalFailure { throw failure }
    return ByteBuffer(bytes: try await answer.body.collect(upTo: 1 << 20))
}

let server = Application(
    router: router, configuration: .init(address: .hostname("127.0.0.1", port: 8085)), services: [service, api])
try await server.runService()
