import DevAuthorizationServer
import FoundationEssentials
import HTTPTypes
import OAuthClient
import Testing
import TokenVault
import TokenVaultHTTP
import TokenVaultTesting

/// A server that takes only the second of two client secrets, over real HTTP.
struct ClientSecretWireTests {
    @Test(arguments: [true, false])
    func secondSecretIsFoundWithoutSpendingARefreshToken(isBasic: Bool) async throws {
        var configuration = AuthorizationServerConfiguration()
        configuration.clients = [
            RegisteredClient(
                id: "app", authentication: isBasic ? .basic(secret: "CANARY-new") : .post(secret: "CANARY-new"))
        ]
        let server = try await DevAuthorizationServer.start(configuration)
        let transport = AsyncHTTPTransport(options: .loopback)
        let temporary = try await TemporaryVault()
        let old = try ClientSecret("CANARY-old")
        var registration = try ProviderRegistration(
            name: "dev", tokenEndpoint: server.endpoint("/token"), revocationEndpoint: server.endpoint("/revoke"),
            clientID: ClientID("app"), authentication: isBasic ? .clientSecretBasic(old) : .clientSecretPost(old))
        registration.alternativeSecrets = [try ClientSecret("CANARY-new")]
        try await temporary.vault.addProvider(registration)
        let users = try await UserManager(vault: temporary.vault, transport: transport)
        let grant = try #require(server.issueGrant(user: "alice", client: "app"))
        let login = try await users.addLogin(
            userId: "alice", provider: "dev", accessToken: try AccessToken(grant.accessToken),
            expiresAt: Date().addingTimeInterval(Double(grant.expiresIn)),
            refreshToken: try grant.refreshToken.map { try RefreshToken($0) })
        let token = try await users.accessToken(for: .login(login.id), .renewed)
        #expect(token.generation == 2)
        // Refused, asked about twice, taken: and the chain is whole.
        #expect(server.log.records.map(\.path) == ["/token", "/revoke", "/revoke", "/token"])
        #expect(server.log.records.map(\.outcome) == ["invalid_client", "invalid_client", "ok", "ok"])
        #expect(try await users.accessToken(for: .login(login.id), .renewed).generation == 3)
        #expect(server.log.records.count == 5)
        // The next log-out goes with the good secret at once.
        let report = try await users.logOut(.login(login.id))
        #expect(report.results.map(\.outcome) == [.revoked])
        await temporary.vault.close()
        await transport.shutdown()
        await server.shutDown()
    }

    @Test func tokensForSingleResourcesOpenThoseOnly() async throws {
        var configuration = AuthorizationServerConfiguration()
        configuration.resources = ["https://other.example/api"]
        try await ResourceWorld.with(configuration) { world in
            let login = try await world.logIn()
            let here = world.server.base + "/resource"
            let token = try await world.users.accessToken(for: .login(login.id), TokenRequest(resource: here))
            let other = try await world.users.accessToken(
                for: .login(login.id), TokenRequest(resource: "https://other.example/api"))
            #expect(token.accessToken != other.accessToken)
            #expect(
                try await world.client.send(world.request(), for: .login(login.id), TokenRequest(resource: here)).head
                    .status == .ok)
            _ = try await world.users.authorize(world.request(), with: other)
            #expect(try await world.client.send(world.request(), for: .login(login.id)).head.status == .ok)
            #expect(world.renewals == 2)
            do {
                _ = try await world.users.accessToken(
                    for: .login(login.id), TokenRequest(resource: "https://unknown.example"))
                Issue.record("a token for an unknown resource")
            } catch let error as VaultError {
                #expect(error.code == .resourceRefused)
            }
            #expect(try await world.users.vault.login(login.id).failure == nil)
        }
    }
}
