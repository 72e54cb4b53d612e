import DevAuthorizationServer
import FoundationEssentials
import HTTPTypes
import OAuthClient
import Testing
import TokenVault
import TokenVaultHTTP
import TokenVaultTesting

/// The client's own tokens at a real server, counted there.
struct ClientTokenWireTests {
    private func withClient(
        requiresDPoP: Bool = false, _ change: (inout AuthorizationServerConfiguration) -> Void = { _ in },
        _ body: (DevAuthorizationServer, UserManager, AuthorizingClient) async throws -> Void
    ) async throws {
        var configuration = AuthorizationServerConfiguration()
        configuration.clients = [
            RegisteredClient(
                id: "app", authentication: .basic(secret: "CANARY-secret"), requiresDPoP: requiresDPoP)
        ]
        change(&configuration)
        let server = try await DevAuthorizationServer.start(configuration)
        let transport = AsyncHTTPTransport(options: .loopback)
        let temporary = try await TemporaryVault(in: .memory)
        try await temporary.vault.addProvider(
            ProviderRegistration(
                name: "dev", tokenEndpoint: server.endpoint("/token"), clientID: ClientID("app"),
                authentication: .clientSecretBasic(ClientSecret("CANARY-secret")),
                dpop: requiresDPoP ? .required : .optional))
        let users = try await UserManager(
            vault: temporary.vault, transport: transport)
        let client = AuthorizingClient(users: users, options: .init(timeout: .seconds(60)))
        try await body(server, users, client)
        await client.shutdown()
        await temporary.vault.close()
        await transport.shutdown()
        await server.shutDown()
    }

    private func request(_ server: DevAuthorizationServer) -> HTTPRequest {
        HTTPRequest(method: .get, scheme: "http", authority: "127.0.0.1:\(server.port)", path: "/resource")
    }

    @Test func fiftyCallersMakeOneRequest() async throws {
        try await withClient { server, users, _ in
            let request = TokenRequest(resource: server.base + "/resource", scope: try Scope("read"))
            let tokens = try await withThrowingTaskGroup(of: AccessToken.self) { group in
                for _ in 0..<50 {
                    group.addTask { try await users.clientToken(provider: "dev", request).accessToken }
                }
                return try await group.reduce(into: Set()) { $0.insert($1) }
            }
            #expect(tokens.count == 1)
            #expect(server.log.records.map(\.path) == ["/token"])
        }
    }

    @Test func aTokenThatTheApiRefusesIsFetchedAnewOnce() async throws {
        try await withClient { server, users, client in
            #expect(try await client.send(request(server), asClientOf: "dev").head.status == .ok)
            server.expireAccessTokens(user: "app")
            let response = try await client.send(request(server), asClientOf: "dev")
            #expect(response.head.status == .ok)
            #expect(response.token == nil)
            #expect(response.clientToken?.provider == "dev")
            let log = server.log.records.map { "\($0.path) \($0.outcome)" }
            #expect(
                log == ["/token ok", "/resource ok", "/resource invalid_token", "/token ok", "/resource ok"])
        }
    }

    @Test func aScopedClientUsesItsTenantsProvider() async throws {
        try await withClient { server, users, client in
            let tenant = try #require(Tenant("contoso"))
            let scoped = client.scoped(to: tenant)
            await #expect(throws: VaultError.self) { try await scoped.send(request(server), asClientOf: "dev") }
            try await users.vault.addProvider(
                ProviderRegistration(
                    name: "dev", tokenEndpoint: server.endpoint("/token"), clientID: ClientID("app"),
                    authentication: .clientSecretBasic(ClientSecret("CANARY-secret"))),
                of: tenant)
            let response = try await scoped.send(request(server), asClientOf: "dev")
            #expect(response.head.status == .ok)
            #expect(response.clientToken?.provider == "dev")
        }
    }

    @Test func aBoundTokenOpensAResourceThatWantsNonces() async throws {
        try await withClient(requiresDPoP: true, { $0.noncePolicy = .requiredOnce }) { server, users, client in
            let response = try await client.send(request(server), asClientOf: "dev")
            #expect(response.head.status == .ok)
            #expect(response.clientToken?.tokenType == .dpop)
            #expect(try await client.send(request(server), asClientOf: "dev").head.status == .ok)
            #expect(server.log.records.filter { $0.path == "/token" && $0.outcome == "ok" }.count == 1)
        }
    }
}
