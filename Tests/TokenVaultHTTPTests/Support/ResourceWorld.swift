import DevAuthorizationServer
import FoundationEssentials
import HTTPTypes
import OAuthClient
import Testing
import TokenVault
import TokenVaultHTTP
import TokenVaultTesting

/// A real vault, a real authorization server with its protected resource, and the client between them.
struct ResourceWorld {
    let server: DevAuthorizationServer
    let temporary: TemporaryVault
    let users: UserManager
    let client: AuthorizingClient
    private let transport = AsyncHTTPTransport(options: .loopback)

    static func with(
        _ configuration: AuthorizationServerConfiguration = .init(), profile: String? = nil,
        _ body: (ResourceWorld) async throws -> Void
    ) async throws {
        let world = try await ResourceWorld(configuration, profile)
        do {
            try await body(world)
            await world.close()
        } catch {
            await world.close()
            throw error
        }
    }

    private init(_ configuration: AuthorizationServerConfiguration, _ profile: String?) async throws {
        server = try await DevAuthorizationServer.start(configuration)
        // A disk whose syncs take seconds must not decide about these tests.
        temporary = try await TemporaryVault(in: .memory)
        var registration = try ProviderRegistration(
            name: "dev", tokenEndpoint: server.endpoint("/token"), revocationEndpoint: server.endpoint("/revoke"),
            clientID: ClientID("demo"))
        if let profile {
            let document =
                #"{"profile":1,"name":"own","source":[{"url":"u","read":"2026-01-31"}],"resource":"# + profile + "}"
            registration.profileDocument = Array(document.utf8)
        }
        try await temporary.vault.addProvider(registration)
        users = try await UserManager(
            vault: temporary.vault, transport: transport)
        var options = AuthorizingClient.Options(timeout: .seconds(600))
        options.longestWait = .seconds(600)
        client = AuthorizingClient(users: users, options: options)
    }

    private func close() async {
        await client.shutdown()
        await temporary.vault.close()
        await transport.shutdown()
        await server.shutDown()
    }

    @discardableResult
    func logIn(_ user: String = "alice", key: DPoPKey? = nil) async throws -> Login {
        let grant = try #require(server.issueGrant(user: user, keyThumbprint: key?.thumbprint.rawValue))
        return try await users.addLogin(
            userId: user, provider: "dev", accessToken: try AccessToken(grant.accessToken),
            expiresAt: Date().addingTimeInterval(Double(grant.expiresIn)),
            refreshToken: try grant.refreshToken.map { try RefreshToken($0) }, dpopKey: key)
    }

    func request(
        _ method: HTTPRequest.Method = .get, port: UInt16? = nil, path: String = "/resource?x=1"
    ) -> HTTPRequest {
        HTTPRequest(
            method: method, scheme: "http", authority: "127.0.0.1:\(port.map { Int($0) } ?? server.port)", path: path)
    }

    /// Requests that reached the resource, by what it said to them.
    var outcomes: [String] { server.log.records.filter { $0.path == "/resource" }.map(\.outcome) }
    var renewals: Int { server.log.tokenRequests().count }
}

extension DevAuthorizationServer {
    func endpoint(_ path: String) throws -> EndpointURL {
        try EndpointURL(base + path, allowsInsecureLoopback: true)
    }
}
