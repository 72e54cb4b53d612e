import Crypto
import DevAuthorizationServer
import Foundation
import HTTPTypes
import OAuthClient
import Testing
import TokenVault
import TokenVaultHTTP
import TokenVaultTesting

/// What a vault asks of a real server, over real HTTP, where more than the plain code flow is needed.
struct ProviderRequestTests {
    /// A vault and a server that know each other: the vault by discovery alone.
    private struct Setting {
        let server: DevAuthorizationServer
        let temporary: TemporaryVault
        let users: UserManager
        let transport = AsyncHTTPTransport(options: .loopback)

        init(
            _ configuration: AuthorizationServerConfiguration, client: String,
            authentication: ClientAuthentication = .none, profile: String, dpop: DPoPPolicy = .required
        ) async throws {
            server = try await DevAuthorizationServer.start(configuration)
            temporary = try await TemporaryVault()
            let metadata = try await Discovery.metadata(
                issuer: try Issuer(server.issuer, allowsInsecureLoopback: true), transport: transport,
                allowsInsecureLoopback: true)
            var registration = try ProviderRegistration(
                name: "dev", metadata: metadata, clientID: ClientID(client), authentication: authentication,
                scope: Scope("read write"), redirectURI: RedirectURI("https://app.example/callback"), dpop: dpop)
            let text = """
                {"profile": 1, "name": "dev", "source": [{"url": "https://dev.example", "read": "2026-11-21", "says": "x"}],
                 \(profile)}
                """
            registration.profileDocument = Array(text.utf8)
            try await temporary.vault.addProvider(registration)
            users = try await UserManager(vault: temporary.vault, transport: transport)
        }

        func close() async {
            await temporary.vault.close()
            await transport.shutdown()
            await server.shutDown()
        }

        /// What a browser does: where the server sends it.
        func visit(_ address: String) async throws -> HTTPReply {
            let url = try #require(URL(string: address))
            let path = url.path + (url.query(percentEncoded: true).map { "?" + $0 } ?? "")
            let request = HTTPRequest(
                method: .get, scheme: "http", authority: "127.0.0.1:\(url.port ?? 80)", path: path)
            return try await transport.send(request, body: [], limits: .patient)
        }

        func logIn(_ user: String = "alice") async throws -> Login {
            let request = try await users.beginLogIn(LogInRequest(userId: user, provider: "dev", loginHint: user))
            let reply = try await visit(request.url)
            return try await users.completeLogIn(
                .url(try #require(reply.response.headerFields[.location])), boundTo: request.binding
            ).login
        }

        func tokenRecords(_ path: String = "/token") -> [RequestRecord] {
            server.log.records.filter { $0.path == path }
        }
    }

    private static let pushed = #""request": {"pushedAuthorization": "required"}"#

    @Test func aPushedLogInShowsTheBrowserNothingButAName() async throws {
        var configuration = AuthorizationServerConfiguration()
        configuration.requiresPushedRequests = true
        configuration.noncePolicy = .required(rotation: .seconds(300))
        let setting = try await Setting(configuration, client: "demo", profile: Self.pushed)
        let request = try await setting.users.beginLogIn(
            LogInRequest(userId: "alice", provider: "dev", loginHint: "alice"))
        let names = try #require(URLComponents(string: request.url)?.queryItems).map(\.name).sorted()
        #expect(names == ["client_id", "request_uri"])

        let reply = try await setting.visit(request.url)
        let callback = try #require(reply.response.headerFields[.location])
        let login = try await setting.users.completeLogIn(.url(callback), boundTo: request.binding).login
        #expect(login.scope?.description == "read write")
        // The nonce of the pushed request is good for the code: no further challenge.
        #expect(setting.tokenRecords("/par").map(\.outcome) == ["use_dpop_nonce", "ok"])
        #expect(setting.tokenRecords().map(\.outcome) == ["ok"])
        let keys = Set(setting.server.log.records.compactMap(\.proofKey))
        #expect(keys.count == 1)
        #expect(setting.server.grants.first?.refreshKey == keys.first)
        _ = try await setting.users.accessToken(for: .login(login.id), .renewed)
        #expect(setting.server.counters.rotated == 1)

        // The name is good once.
        #expect(try await setting.visit(request.url).response.status.code == 400)
        await setting.close()
    }

    @Test func everyRequestBringsAnAssertionOfItsOwn() async throws {
        let key = P256.Signing.PrivateKey()
        let point = key.publicKey.rawRepresentation
        func coordinate(_ bytes: Data) -> String {
            bytes.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
        }
        let jwk =
            #"{"kty":"EC","crv":"P-256","kid":"k1","x":"\#(coordinate(point.prefix(32)))","#
            + #""y":"\#(coordinate(point.suffix(32)))"}"#
        var configuration = AuthorizationServerConfiguration()
        configuration.clients.append(
            RegisteredClient(id: "signer", authentication: .privateKeyJWT(try #require(RegisteredKey(jwk: jwk)))))
        configuration.noncePolicy = .requiredOnce
        let setting = try await Setting(
            configuration, client: "signer",
            authentication: .privateKeyJWT(try ClientAssertionKey(pem: key.pemRepresentation, keyID: "k1")),
            profile: Self.pushed)
        let login = try await setting.logIn()
        for _ in 0..<3 { _ = try await setting.users.accessToken(for: .login(login.id), .renewed) }
        setting.server.forgetNonces()
        _ = try await setting.users.accessToken(for: .login(login.id), .renewed)
        _ = try await setting.users.logOut(.login(login.id))

        let records = setting.server.log.records.filter { ["/par", "/token", "/revoke"].contains($0.path) }
        let assertions = records.compactMap(\.assertionID)
        // The two challenges were answered with a new assertion and a new proof.
        #expect(records.filter { $0.outcome == "use_dpop_nonce" }.count == 2)
        #expect(records.allSatisfy { ["ok", "use_dpop_nonce"].contains($0.outcome) })
        #expect(assertions.count == records.count)
        #expect(Set(assertions).count == assertions.count)
        #expect(setting.server.counters.rotated == 4)
        #expect(setting.server.grants.map(\.isRevoked) == [true])
        await setting.close()
    }

    @Test func aClientGetsTokensOfItsOwnForOneResource() async throws {
        var configuration = AuthorizationServerConfiguration()
        configuration.noncePolicy = .required(rotation: .seconds(300))
        let server = try await DevAuthorizationServer.start(configuration)
        let transport = AsyncHTTPTransport(options: .loopback)
        let manager = OAuthTokenManager(
            configuration: OAuthClientConfiguration(
                clientID: try ClientID("demo-basic"),
                authentication: .clientSecretBasic(try ClientSecret("demo-basic-secret")),
                tokenEndpoint: try EndpointURL(server.base + "/token", allowsInsecureLoopback: true),
                keyBinding: .required, limits: .patient),
            transport: transport)
        let resource = server.base + "/resource"
        for expected in [["use_dpop_nonce", "ok"], ["ok"]] {
            server.log.clear()
            let response = await manager.fetchClientAccessToken(scope: try Scope("read"), resources: [resource])
            guard case .successfulToken(let tokens) = response else {
                Issue.record("\(response)")
                return
            }
            #expect(tokens.refreshToken == nil)
            #expect(server.log.records.map(\.outcome) == expected)
            #expect(server.log.records.last?.resources == [resource])
        }
        #expect(server.grants.map(\.user) == ["demo-basic"])
        let refused = await manager.fetchClientAccessToken(resources: ["https://evil.example/"])
        guard case .errorToken = refused else {
            Issue.record("\(refused)")
            return
        }
        await transport.shutdown()
        await server.shutDown()
    }

    /// A request that carries neither a code nor a refresh token is where the second secret is tried.
    @Test func theSecondSecretIsTriedWhereNothingCanBeSpent() async throws {
        let server = try await DevAuthorizationServer.start()
        let transport = AsyncHTTPTransport(options: .loopback)
        var binding = ServerBinding(
            tokenEndpoint: try EndpointURL(server.base + "/token", allowsInsecureLoopback: true),
            clientID: try ClientID("demo-basic"), authentication: .clientSecretBasic(try ClientSecret("wrong")))
        binding.alternatives = [.clientSecretBasic(try ClientSecret("demo-basic-secret"))]
        let endpoint = TokenEndpoint(binding: binding, transport: transport, now: { Date() })
        let attempt = await endpoint.clientCredentials(scope: try Scope("read"))
        #expect(HostileCase.Outcome(attempt) == .successKeepingToken)
        #expect(server.log.records.map(\.outcome) == ["invalid_client", "ok"])
        await transport.shutdown()
        await server.shutDown()
    }
}
