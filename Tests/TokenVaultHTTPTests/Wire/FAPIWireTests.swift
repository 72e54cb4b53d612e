import DevAuthorizationServer
import FoundationEssentials
import HTTPTypes
import OAuthClient
import Testing
import TestCertificates
import TokenVault
import TokenVaultHTTP
import TokenVaultTesting

/// The FAPI 2.0 Security Profile, against a server that refuses everything else.
struct FAPIWireTests {
    private static let key = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgevZzL1gdAFr88hb2
        OF/2NxApJCzGCEDdfSp6VQO30hyhRANCAAQRWz+jn65BtOMvdyHKcvjBeBSDZH2r
        1RTwjmYSi9R/zpBnuQ4EiMnCqfMPWiZqB4QdbAd0E7oH50VpuZ1P087G
        -----END PRIVATE KEY-----
        """
    private static let registeredKey = RegisteredKey(
        jwk: #"{"kty":"EC","crv":"P-256","x":"EVs_o5-uQbTjL3chynL4wXgUg2R9q9UU8I5mEovUf84","#
            + #""y":"kGe5DgSIycKp8w9aJmoHhB1sB3QTugfnRWm5nU_TzsY"}"#)

    private static func with(
        _ authentication: RegisteredClient.Authentication, bound: Bool = false,
        _ body: (MutualWorld) async throws -> Void
    ) async throws {
        let client = RegisteredClient(id: "app", authentication: authentication, bindsTokensToCertificate: bound)
        try await MutualWorld.with(clients: [client]) {
            $0.strictness = .fapi2
        } _: {
            try await body($0)
        }
    }

    private static func add(
        _ world: MutualWorld, _ authentication: ClientAuthentication, dpop: DPoPPolicy
    ) async throws {
        let issuer = try Issuer(world.server.issuer, allowsInsecureLoopback: true)
        let metadata = try await Discovery.metadata(
            issuer: issuer, transport: world.transport, allowsInsecureLoopback: true)
        var registration = ProviderRegistration(
            name: "dev", metadata: metadata, clientID: try ClientID("app"), authentication: authentication,
            scope: try Scope("openid read"), redirectURI: try RedirectURI("https://app.example/callback"), dpop: dpop)
        registration.profile = "fapi2-security"
        try await world.vault.addProvider(registration)
    }

    private static func live(_ world: MutualWorld) async throws {
        let login = try await world.logIn()
        #expect(try await world.client.send(try world.resource, for: .login(login.id)).head.status == .ok)
        #expect(try await world.users.accessToken(for: .login(login.id), .renewed).generation == 2)
        #expect(try await world.client.send(try world.resource, for: .login(login.id)).head.status == .ok)
        #expect(try await world.users.logOut(.login(login.id)).results.map(\.outcome) == [.revoked])
        let paths = world.server.log.records.map(\.path).filter {
            ["/par", "/token", "/resource", "/revoke"].contains($0)
        }
        #expect(paths == ["/par", "/token", "/resource", "/token", "/resource", "/revoke"])
        #expect(world.server.log.records.allSatisfy { $0.outcome == "ok" || !paths.contains($0.path) })
    }

    @Test func aKeyWithDPoPLivesItsWholeLife() async throws {
        try await Self.with(.privateKeyJWT(try #require(Self.registeredKey))) { world in
            try await Self.add(world, .privateKeyJWT(ClientAssertionKey(pem: Self.key)), dpop: .required)
            try await Self.live(world)
        }
    }

    @Test func aCertificateWithBoundTokensLivesItsWholeLife() async throws {
        let own = try TestCertificate("app")
        try await Self.with(.selfSignedCertificate([own.registered]), bound: true) { world in
            try await Self.add(world, .selfSignedTLSClientAuth(own.client), dpop: .never)
            try await Self.live(world)
        }
    }

    /// What the profile does not allow is refused when the provider is added, not by the provider later.
    @Test func theProfileRefusesWhatIsWeaker() async throws {
        let own = try TestCertificate("app")
        let temporary = try await TemporaryVault(in: .memory)
        func registration(_ authentication: ClientAuthentication, _ dpop: DPoPPolicy) throws -> ProviderRegistration {
            var registration = try ProviderRegistration(
                name: "bank", issuer: Issuer("https://as.example"),
                tokenEndpoint: EndpointURL("https://as.example/token"),
                clientID: ClientID("app"), authentication: authentication, dpop: dpop)
            registration.profile = "fapi2-security"
            return registration
        }
        let key = ClientAuthentication.privateKeyJWT(try ClientAssertionKey(pem: Self.key))
        for weak in [
            try registration(key, .optional), try registration(.tlsClientAuth(own.client), .never),
            try registration(.clientSecretBasic(ClientSecret("x")), .required), try registration(.none, .required),
        ] {
            await #expect(throws: VaultError.self) { try await temporary.vault.addProvider(weak) }
        }
        try await temporary.vault.addProvider(registration(key, .required))
        var change = ProviderChange()
        change.dpop = .optional
        await #expect(throws: VaultError.self) { try await temporary.vault.changeProvider(named: "bank", change) }
        await temporary.vault.close()
    }

    // MARK: What the strict server refuses

    private static func binding(_ world: MutualWorld, _ authentication: ClientAuthentication) throws -> ServerBinding {
        var binding = ServerBinding(
            tokenEndpoint: try EndpointURL(world.server.base + "/token", allowsInsecureLoopback: true),
            clientID: try ClientID("app"), authentication: authentication, limits: .patient)
        binding.assertionAudience = world.server.issuer
        return binding
    }

    private static func ownToken(
        _ world: MutualWorld, _ binding: ServerBinding, dpop: DPoPContext? = DPoPContext(key: .generate())
    ) async -> String? {
        _ = await TokenEndpoint(binding: binding, transport: world.transport, now: { .now })
            .clientCredentials(dpop: dpop)
        return world.server.log.records.last { $0.path == "/token" }?.outcome
    }

    @Test func strictTokenEndpointRefusesEachDeviation() async throws {
        let key = ClientAuthentication.privateKeyJWT(try ClientAssertionKey(pem: Self.key))
        try await Self.with(.privateKeyJWT(try #require(Self.registeredKey))) { world in
            let good = try Self.binding(world, key)
            #expect(await Self.ownToken(world, good) == "ok")
            // Neither DPoP nor a certificate.
            #expect(await Self.ownToken(world, good, dpop: nil) == "invalid_dpop_proof")
            var audience = good
            audience.assertionAudience = world.server.base + "/token"
            #expect(await Self.ownToken(world, audience) == "invalid_client")
        }
        try await Self.with(.basic(secret: "secret")) { world in
            let binding = try Self.binding(world, .clientSecretBasic(ClientSecret("secret")))
            #expect(await Self.ownToken(world, binding) == "invalid_client")
        }
        try await Self.with(.post(secret: "secret")) { world in
            let binding = try Self.binding(world, .clientSecretPost(ClientSecret("secret")))
            #expect(await Self.ownToken(world, binding) == "invalid_client")
        }
        let own = try TestCertificate("app")
        try await Self.with(.selfSignedCertificate([own.registered])) { world in
            var binding = try Self.binding(world, .selfSignedTLSClientAuth(own.client))
            binding.tokenEndpoint = try EndpointURL(try #require(world.server.secureBase) + "/token")
            // The client is known, and its tokens are bound to nothing.
            #expect(await Self.ownToken(world, binding, dpop: nil) == "invalid_dpop_proof")
        }
    }

    private static func push(
        _ world: MutualWorld, _ certificate: ClientCertificate, without name: String? = nil
    ) async throws -> String? {
        let parameters = [
            FormParameter("client_id", "app"), FormParameter("response_type", "code"),
            FormParameter("redirect_uri", "https://app.example/callback"), FormParameter("scope", "read"),
            FormParameter("state", "0123456789012345678901234567"),
            FormParameter("code_challenge", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"),
            FormParameter("code_challenge_method", "S256"),
        ].filter { parameter in name.map { !parameter.name.hasPrefix($0) } ?? true }
        var request = try world.resource
        request.method = .post
        request.path = "/par"
        request.headerFields[.contentType] = "application/x-www-form-urlencoded"
        _ = try await world.transport.send(
            request, body: FormCodec.encode(parameters), limits: .patient, showing: certificate)
        return world.server.log.records.last { $0.path == "/par" }?.outcome
    }

    @Test func strictServerRefusesDeviantAuthorizationRequests() async throws {
        let own = try TestCertificate("app")
        try await Self.with(.selfSignedCertificate([own.registered]), bound: true) { world in
            let certificate = try own.client
            #expect(try await Self.push(world, certificate) == "ok")
            #expect(try await Self.push(world, certificate, without: "code_challenge") == "invalid_request")
            #expect(try await Self.push(world, certificate, without: "redirect_uri") == "invalid_request")
            let path =
                "/authorize?response_type=code&client_id=app&redirect_uri=https://app.example/callback&scope=read"
                + "&state=0123456789012345678901234567&code_challenge_method=S256"
                + "&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
            let request = HTTPRequest(
                method: .get, scheme: "http", authority: "127.0.0.1:\(world.server.port)", path: path)
            let reply = try await world.transport.send(request, body: [], limits: .patient)
            let location = reply.response.headerFields[.location]
            #expect(location?.contains("code=") != true)
            #expect(world.server.log.records.last { $0.path == "/authorize" }?.outcome != "ok")
        }
    }
}
