import DevAuthorizationServer
import FoundationEssentials
import HTTPTypes
import OAuthClient
import Testing
import TokenVault
import TokenVaultHTTP
import TokenVaultResources
import TokenVaultTesting

/// A service that knows no provider, and a real resource with its authorization server.
struct ResourceLogInWorld {
    let server: DevAuthorizationServer
    let temporary: TemporaryVault
    let users: UserManager
    let api: AuthorizingClient
    let transport = AsyncHTTPTransport(options: .loopback)
    var client: ResourceClient

    static func with(
        _ change: (inout AuthorizationServerConfiguration) -> Void = { _ in },
        _ body: (ResourceLogInWorld) async throws -> Void
    ) async throws {
        var configuration = AuthorizationServerConfiguration()
        configuration.strictness = .mcp
        configuration.scopes = ["read", "write"]
        change(&configuration)
        let world = try await ResourceLogInWorld(configuration)
        do {
            try await body(world)
            await world.close()
        } catch {
            await world.close()
            throw error
        }
    }

    private init(_ configuration: AuthorizationServerConfiguration) async throws {
        server = try await DevAuthorizationServer.start(configuration)
        temporary = try await TemporaryVault(in: .memory)
        users = try await UserManager(vault: temporary.vault, transport: transport)
        api = AuthorizingClient(users: users)
        client = try ResourceClient(redirectURI: "http://127.0.0.1/callback", clientName: "Tests")
    }

    private func close() async {
        await api.shutdown()
        await temporary.vault.close()
        await transport.shutdown()
        await server.shutDown()
    }

    func begin(_ user: String = "alice", refusedWith refusal: HTTPResponse? = nil) async throws -> AuthorizationRequest
    {
        try await users.beginLogIn(
            ResourceLogIn(userId: user, resource: server.resourceURL, refusedWith: refusal), as: client)
    }

    func logIn(_ user: String = "alice") async throws -> Login { try await complete(begin(user)) }

    func complete(_ begun: AuthorizationRequest) async throws -> Login {
        try await users.completeLogIn(.url(visit(begun.url)), boundTo: begun.binding).login
    }

    /// The user's browser at a server that approves at once.
    func visit(_ url: String) async throws -> String {
        let target = try EndpointURL(url, allowsInsecureLoopback: true)
        let reply = try await transport.send(
            HTTPRequest(method: .get, scheme: target.scheme, authority: target.authority, path: target.requestTarget),
            body: [], limits: .tokenEndpoint)
        return try #require(reply.response.headerFields[.location])
    }

    func get(_ login: Login, below path: String = "") async throws -> ResourceResponse {
        try await api.get(server.resourceURL + path, for: .login(login.id))
    }

    /// The paths that were asked, in order.
    var paths: [String] { server.log.records.map(\.path) }
    /// The requests for tokens.
    var grants: [RequestRecord] { server.log.records.filter { $0.path == "/token" } }
}

/// Expects this error.
func expect<R>(
    _ code: VaultError.Code, sourceLocation: SourceLocation = #_sourceLocation, of body: () async throws -> R
) async {
    do {
        _ = try await body()
        Issue.record("no error", sourceLocation: sourceLocation)
    } catch {
        #expect((error as? VaultError)?.code == code, "\(error)", sourceLocation: sourceLocation)
    }
}
