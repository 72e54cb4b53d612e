import Crypto
import DevAuthorizationServer
import FoundationEssentials
import HTTPTypes
import OAuthClient
import Testing
import TokenVault
import TokenVaultHTTP
import TokenVaultTesting

/// A session handler whose app vouches for its users, at a real server that trusts the app.
struct AuthTokenExchangeWireTests {
    private static let app = "https://app.example"

    private struct Bench {
        let server: DevAuthorizationServer
        let temporary: TemporaryVault
        let users: UserManager
        let key = P256.Signing.PrivateKey()

        init(_ exchange: String) async throws {
            var configuration = AuthorizationServerConfiguration()
            configuration.trustedIssuers[AuthTokenExchangeWireTests.app] = RegisteredKey(
                jwk: AuthTokenExchangeWireTests.jwk(key))
            server = try await DevAuthorizationServer.start(configuration)
            temporary = try await TemporaryVault(in: .memory)
            var registration = try ProviderRegistration(
                name: "dev", tokenEndpoint: server.endpoint("/token"), revocationEndpoint: server.endpoint("/revoke"),
                clientID: ClientID("demo-basic"),
                authentication: .clientSecretBasic(ClientSecret("demo-basic-secret")))
            registration.profileDocument = Array(
                """
                {"profile":1,"name":"own","title":"Own","exchange":\(exchange),
                "source":[{"url":"https://app.example/","read":"2026-11-21"}]}
                """.utf8)
            try await temporary.vault.addProvider(registration)
            users = try await UserManager(
                vault: temporary.vault, transport: AsyncHTTPTransport(options: .init(allowsInsecureLoopback: true)),
                options: UserManagerOptions(allowsInsecureLoopback: true))
        }

        func addLogin() async throws -> Login {
            try await users.addLogin(
                userId: "alice", provider: "dev", accessToken: try AccessToken("gone"),
                expiresAt: Date().addingTimeInterval(-1))
        }

        /// Of requests for tokens, by what the server said to them.
        var outcomes: [String] { server.log.records.filter { $0.path == "/token" }.map(\.outcome) }

        func close() async {
            await temporary.vault.close()
            await server.shutDown()
        }
    }

    private struct Vouching: SessionHandler {
        let token: @Sendable () throws -> String

        func sessionWillRenewAccessToken(_ renewal: AccessTokenRenewal) async {
            do {
                try await renewal.renewWithAuthToken(AuthToken(token()))
            } catch {
                try? await renewal.unableToRetrieveAuthToken()
            }
        }
    }

    private static func jwk(_ key: P256.Signing.PrivateKey) -> String {
        let point = key.publicKey.rawRepresentation
        return """
            {"kty":"EC","crv":"P-256","x":"\(encode(point.prefix(32)))","y":"\(encode(point.suffix(32)))"}
            """
    }

    private static func encode(_ bytes: some Sequence<UInt8>) -> String {
        String(Data(bytes).base64EncodedString().prefix { $0 != "=" }).replacing("+", with: "-").replacing(
            "/", with: "_")
    }

    private static func jwt(
        _ key: P256.Signing.PrivateKey, subject: String, audience: String, lifetime: TimeInterval = 60
    ) throws -> String {
        let expiry = Int(Date().timeIntervalSince1970 + lifetime)
        let claims = """
            {"iss":"\(app)","sub":"\(subject)","aud":"\(audience)","exp":\(expiry),"jti":"\(UUID().uuidString)"}
            """
        let input = encode(#"{"alg":"ES256","typ":"JWT"}"#.utf8) + "." + encode(claims.utf8)
        let signature = try key.signature(for: Data(input.utf8)).rawRepresentation
        return input + "." + encode(signature)
    }

    @Test(arguments: [#"{"grant":"jwtBearer"}"#, #"{"grant":"tokenExchange"}"#])
    func aTokenOfTheAppBringsTokensOfTheProvider(_ exchange: String) async throws {
        let bench = try await Bench(exchange)
        let login = try await bench.addLogin()
        let (key, audience) = (bench.key, bench.server.base + "/token")
        bench.users.setSessionHandler(Vouching { try Self.jwt(key, subject: "alice", audience: audience) })
        let token = try await bench.users.accessToken(for: .login(login.id))
        let client = AuthorizingClient(users: bench.users)
        let response = try await client.send(
            .init(method: .get, scheme: "http", authority: "127.0.0.1:\(bench.server.port)", path: "/resource"),
            for: .login(login.id))
        let body = try await response.body.collect(upTo: 4_096)
        #expect(String(decoding: body, as: UTF8.self).contains(#""user":"alice""#))
        #expect(token.generation == 2)
        #expect(bench.outcomes == ["ok"])
        await client.shutdown()
        await bench.close()
    }

    @Test func refusedAppTokenPostponesAndIsNotRetried() async throws {
        let bench = try await Bench(#"{"grant":"jwtBearer"}"#)
        let login = try await bench.addLogin()
        let (key, audience) = (P256.Signing.PrivateKey(), bench.server.base + "/token")
        bench.users.setSessionHandler(Vouching { try Self.jwt(key, subject: "alice", audience: audience) })
        for _ in 0..<3 {
            let error = await #expect(throws: VaultError.self) {
                try await bench.users.accessToken(for: .login(login.id))
            }
            #expect(error?.code == .tryLater)
        }
        #expect(bench.outcomes == ["invalid_grant"])
        let stored = try await bench.temporary.vault.login(login.id)
        #expect(stored.failure == nil)
        #expect((stored.notBefore?.timeIntervalSinceNow ?? 0) > 590)
        await bench.close()
    }

    @Test(arguments: ["once", "audience", "expired", "stranger"])
    func theServerLooksAtEveryToken(_ flaw: String) async throws {
        let bench = try await Bench(#"{"grant":"jwtBearer"}"#)
        let audience = flaw == "audience" ? "https://other.example" : bench.server.base + "/token"
        let text = try Self.jwt(
            flaw == "stranger" ? P256.Signing.PrivateKey() : bench.key, subject: "alice", audience: audience,
            lifetime: flaw == "expired" ? -60 : 60)
        bench.users.setSessionHandler(Vouching { text })
        let first = try await bench.addLogin()
        let isGood = (try? await bench.users.accessToken(for: .login(first.id))) != nil
        #expect(isGood == (flaw == "once"))
        let second = try await bench.addLogin()
        _ = try? await bench.users.accessToken(for: .login(second.id))
        #expect(bench.outcomes.last == "invalid_grant")
        await bench.close()
    }
}
