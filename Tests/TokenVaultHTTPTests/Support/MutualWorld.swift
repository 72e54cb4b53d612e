import DevAuthorizationServer
import FoundationEssentials
import HTTPTypes
import OAuthClient
import Testing
import TestCertificates
import TokenVault
import TokenVaultHTTP
import TokenVaultTesting

/// A real vault, and an authorization server with a TLS listener that looks at its clients' certificates.
struct MutualWorld {
    let server: DevAuthorizationServer
    let temporary: TemporaryVault
    let users: UserManager
    let client: AuthorizingClient
    let transport: AsyncHTTPTransport

    var vault: Vault { temporary.vault }

    static func with(
        clients: [RegisteredClient], proxy: AsyncHTTPTransport.Proxy? = nil,
        changing change: (inout AuthorizationServerConfiguration) -> Void = { _ in },
        _ body: (MutualWorld) async throws -> Void
    ) async throws {
        let own = try TestCertificate("localhost", hosts: ["localhost"])
        try await own.withFile { path in
            var configuration = AuthorizationServerConfiguration()
            configuration.tls = try TLSListener(certificate: own.pem, key: own.keyPEM)
            configuration.clients = clients
            change(&configuration)
            let world = try await MutualWorld(configuration, .systemAnd(pemFile: path), proxy)
            do {
                try await body(world)
                await world.close()
            } catch {
                await world.close()
                throw error
            }
        }
    }

    private init(
        _ configuration: AuthorizationServerConfiguration, _ roots: AsyncHTTPTransport.TrustRoots,
        _ proxy: AsyncHTTPTransport.Proxy?
    ) async throws {
        server = try await DevAuthorizationServer.start(configuration)
        temporary = try await TemporaryVault(in: .memory)
        transport = AsyncHTTPTransport(
            options: .init(allowsInsecureLoopback: true, trustRoots: roots, proxy: proxy))
        users = try await UserManager(
            vault: temporary.vault, transport: transport,
            options: UserManagerOptions(retriesRevocationsInBackground: false, allowsInsecureLoopback: true))
        client = AuthorizingClient(
            users: users, options: .init(trustRoots: roots, timeout: .seconds(60), proxy: proxy))
    }

    private func close() async {
        await client.shutdown()
        await temporary.vault.close()
        await transport.shutdown()
        await server.shutDown()
    }

    @discardableResult
    func addProvider(
        _ authentication: ClientAuthentication, named name: String = "dev", client: String = "app"
    ) async throws -> Provider {
        try await users.addProvider(
            name, issuer: server.issuer, clientID: client, authentication: authentication, scope: "openid read",
            redirectURI: "https://app.example/callback")
    }

    /// A login whose refresh token the server issued without looking at a certificate.
    @discardableResult
    func addLogin(_ user: String = "alice", at provider: String = "dev", client: String = "app") async throws -> Login {
        let grant = try #require(server.issueGrant(user: user, client: client))
        return try await users.addLogin(
            userId: user, provider: provider, accessToken: try AccessToken(grant.accessToken),
            expiresAt: Date().addingTimeInterval(Double(grant.expiresIn)),
            refreshToken: try grant.refreshToken.map { try RefreshToken($0) })
    }

    /// A login through the server's own page, in a browser that shows no certificate.
    @discardableResult
    func logIn(_ user: String = "alice", at provider: String = "dev") async throws -> Login {
        let begun = try await users.beginLogIn(LogInRequest(userId: user, provider: provider))
        let path = String(begun.url.dropFirst("http://127.0.0.1:\(server.port)".count))
        let request = HTTPRequest(method: .get, scheme: "http", authority: "127.0.0.1:\(server.port)", path: path)
        let reply = try await transport.send(request, body: [], limits: .patient)
        let back = try #require(reply.response.headerFields[.location])
        return try await users.completeLogIn(.url(back), boundTo: begun.binding).login
    }

    /// The API, where certificates are looked at.
    var resource: HTTPRequest {
        get throws {
            let base = try #require(server.secureBase)
            return HTTPRequest(
                method: .get, scheme: "https", authority: String(base.dropFirst("https://".count)), path: "/resource")
        }
    }

    var outcomes: [String] { server.log.records.map { "\($0.path) \($0.outcome)" } }
}

extension TestCertificate {
    var client: ClientCertificate {
        get throws { try ClientCertificate(chainPEM: pem, keyPEM: keyPEM) }
    }

    var registered: RegisteredCertificate {
        get throws { try #require(RegisteredCertificate(pem)) }
    }
}
