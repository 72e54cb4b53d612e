import DevAuthorizationServer
import FoundationEssentials
import HTTPTypes
import OAuthClient
import Testing
import TestCertificates
import TokenVault
import TokenVaultHTTP
import TokenVaultTesting
import VaultAdministration

/// Client authentication by certificate, and tokens that are bound to it, over real TLS (RFC 8705).
struct MutualTLSWireTests {
    private static func client(_ certificate: TestCertificate, id: String = "app") throws -> RegisteredClient {
        RegisteredClient(
            id: id, authentication: .selfSignedCertificate([try certificate.registered]), bindsTokensToCertificate: true
        )
    }

    @Test func theEndpointsForCertificatesAreThoseThatAreStored() async throws {
        let own = try TestCertificate("app")
        try await MutualWorld.with(clients: [Self.client(own)]) { world in
            let provider = try await world.addProvider(.selfSignedTLSClientAuth(own.client))
            let base = try #require(world.server.secureBase)
            #expect(provider.tokenEndpoint.rawValue == base + "/token")
            #expect(provider.revocationEndpoint?.rawValue == base + "/revoke")
            #expect(provider.pushedAuthorizationEndpoint?.rawValue == base + "/par")
            #expect(provider.authorizationEndpoint?.rawValue == world.server.base + "/authorize")
            #expect(provider.clientAuthentication == "self_signed_tls_client_auth")
            #expect(provider.bindsTokensToCertificate)
            #expect(provider.certificate?.thumbprint == (try own.client).thumbprint)
            #expect(provider.clientSecretCount == 0)
        }
    }

    @Test func aLoginLivesItsWholeLifeOverTheCertificate() async throws {
        let own = try TestCertificate("app")
        try await MutualWorld.with(clients: [Self.client(own)]) { world in
            try await world.addProvider(.selfSignedTLSClientAuth(own.client))
            let login = try await world.logIn()
            let first = try await world.client.send(try world.resource, for: .login(login.id))
            #expect(first.head.status == .ok)
            let renewed = try await world.users.accessToken(for: .login(login.id), .renewed)
            #expect(renewed.generation == 2)
            #expect(try await world.client.send(try world.resource, for: .login(login.id)).head.status == .ok)
            let report = try await world.users.logOut(.login(login.id))
            #expect(report.results.map(\.outcome) == [.revoked])
            #expect(
                world.outcomes.filter {
                    !$0.hasPrefix("/.well-known") && !$0.hasPrefix("/authorize") && $0 != "/jwks ok"
                } == [
                    "/token ok", "/resource ok", "/token ok", "/resource ok", "/revoke ok",
                ])
        }
    }

    /// The token alone is worth nothing.
    @Test func aBoundTokenIsRefusedOverAnotherCertificate() async throws {
        let (own, other) = (try TestCertificate("app"), try TestCertificate("app"))
        try await MutualWorld.with(clients: [Self.client(own)]) { world in
            try await world.addProvider(.selfSignedTLSClientAuth(own.client))
            let login = try await world.addLogin()
            let token = try await world.users.accessToken(for: .login(login.id), .renewed)
            let authorized = try await world.users.authorize(world.resource, with: token)
            #expect(try await authorized.certificate() == own.client)
            let request = authorized.request
            func status(_ certificate: ClientCertificate?) async throws -> Int {
                guard let certificate else {
                    return try await world.transport.send(request, body: [], limits: .patient).response.status.code
                }
                return try await world.transport.send(request, body: [], limits: .patient, showing: certificate)
                    .response.status.code
            }
            #expect(try await status(own.client) == 200)
            #expect(try await status(other.client) == 401)
            #expect(try await status(nil) == 401)
            // It never goes out without its certificate.
            await #expect(throws: HTTPTransportError(.notSent, .refused)) {
                let plain = HTTPRequest(
                    method: .get, scheme: "http", authority: "127.0.0.1:\(world.server.port)", path: "/resource")
                _ = try await world.client.send(plain, for: .login(login.id))
            }
            #expect(world.outcomes.suffix(3) == ["/resource ok", "/resource invalid_token", "/resource invalid_token"])
        }
    }

    /// Connections to an API are kept; two clients of one process never share one.
    @Test func twoClientsNeverShareAConnection() async throws {
        let (one, two) = (try TestCertificate("one"), try TestCertificate("two"))
        try await MutualWorld.with(clients: [Self.client(one, id: "one"), Self.client(two, id: "two")]) { world in
            for (name, certificate) in [("one", one), ("two", two)] {
                try await world.addProvider(.selfSignedTLSClientAuth(certificate.client), named: name, client: name)
                let login = try await world.addLogin(name, at: name, client: name)
                _ = try await world.users.accessToken(for: .login(login.id), .renewed)
            }
            for _ in 0..<3 {
                for name in ["one", "two"] {
                    let response = try await world.client.send(try world.resource, userId: name)
                    #expect(response.head.status == .ok)
                    _ = try await response.body.collect(upTo: 1 << 16)
                }
            }
        }
    }

    /// The operator's mistake, and no login's: when it is put right, the same refresh token goes on.
    @Test func aWrongCertificateEndsNoLogin() async throws {
        let (own, other) = (try TestCertificate("app"), try TestCertificate("app"))
        try await MutualWorld.with(clients: [Self.client(own)]) { world in
            try await world.addProvider(.selfSignedTLSClientAuth(other.client))
            let login = try await world.addLogin()
            do {
                _ = try await world.users.accessToken(for: .login(login.id), .renewed)
                Issue.record("a renewal with a wrong certificate")
            } catch let error as VaultError {
                #expect(error.code == .providerMisconfigured)
            }
            #expect(world.outcomes.contains("/token invalid_client"))
            #expect(try await world.vault.login(login.id).failure == nil)
            var change = ProviderChange()
            change.authentication = .selfSignedTLSClientAuth(try own.client)
            let update = try await world.vault.changeProvider(named: "dev", change)
            #expect(update.changes.map(\.field) == ["clientCertificate"])
            #expect(update.changes.allSatisfy { $0.previous == nil && $0.current == nil })
            #expect(try await world.users.accessToken(for: .login(login.id), .renewed).generation == 2)
            #expect(try await world.client.send(try world.resource, for: .login(login.id)).head.status == .ok)
        }
    }

    @Test func anAuthorityVouchesForANameAndForNoOther() async throws {
        let authority = try TestCertificate("authority")
        let subject = try #require(CertificateSubject("CN=app", authority: authority.pem))
        let registered = RegisteredClient(id: "app", authentication: .certificate(subject))
        let good = try TestCertificate("app", signedBy: authority)
        let bad = [
            try TestCertificate("other", signedBy: authority), try TestCertificate("app"),
            try TestCertificate("app", signedBy: TestCertificate("authority")),
            try TestCertificate(
                "app", signedBy: authority,
                validity: Date(timeIntervalSince1970: 1_000_000_000)...Date(timeIntervalSince1970: 1_100_000_000)),
        ]
        try await MutualWorld.with(clients: [registered]) { world in
            for certificate in [good] + bad {
                let binding = ServerBinding(
                    tokenEndpoint: try EndpointURL(try #require(world.server.secureBase) + "/token"),
                    clientID: try ClientID("app"), authentication: .tlsClientAuth(try certificate.client),
                    limits: .patient)
                let endpoint = TokenEndpoint(binding: binding, transport: world.transport, now: { .now })
                _ = await endpoint.clientCredentials()
            }
            #expect(
                world.server.log.tokenRequests(grantType: "client_credentials").map(\.outcome) == ["ok"]
                    + Array(repeating: "invalid_client", count: bad.count))
        }
    }

    /// A transport of an app's own that knows nothing of certificates.
    @Test func aTransportThatCannotShowItHarmsNoLogin() async throws {
        let own = try TestCertificate("app")
        let transport = ScriptedTransport()
        let temporary = try await TemporaryVault(in: .memory)
        try await temporary.vault.addProvider(
            ProviderRegistration(
                name: "dev", tokenEndpoint: EndpointURL("https://as.example/token"), clientID: ClientID("app"),
                authentication: .tlsClientAuth(own.client)))
        let users = try await UserManager(vault: temporary.vault, transport: transport)
        let login = try await users.addLogin(
            userId: "alice", provider: "dev", accessToken: try AccessToken("at"),
            expiresAt: Date().addingTimeInterval(3_600), refreshToken: try RefreshToken("rt"))
        await #expect(throws: VaultError.self) {
            _ = try await users.accessToken(for: .login(login.id), .renewed)
        }
        do {
            _ = try await users.clientToken(provider: "dev")
            Issue.record("a token without the certificate")
        } catch let error as VaultError {
            #expect(error.code == .providerMisconfigured)
            #expect(error.message.contains("cannot present the client certificate"))
        }
        #expect(transport.requests.isEmpty)
        let stored = try await users.vault.login(login.id)
        #expect(stored.failure == nil)
        #expect(try await temporary.vault.diagnosis(of: login.id).renewal == nil)
        await temporary.vault.close()
    }

    @Test func aProxyStandsBetweenWithoutSeeingAnything() async throws {
        let own = try TestCertificate("app")
        try await ConnectProxy.with { proxy in
            try await MutualWorld.with(
                clients: [Self.client(own)], proxy: .init("http://127.0.0.1:\(proxy.port)")
            ) { world in
                try await world.addProvider(.selfSignedTLSClientAuth(own.client))
                let login = try await world.addLogin()
                _ = try await world.users.accessToken(for: .login(login.id), .renewed)
                #expect(try await world.client.send(try world.resource, for: .login(login.id)).head.status == .ok)
                // Metadata came over plain http from this machine.
                #expect(proxy.seen.heads.count == 2)
                #expect(!String(decoding: proxy.seen.relayed, as: UTF8.self).contains("rt_"))
            }
        }
    }

    // MARK: What is stored

    @Test func aCertificateIsShownToHTTPSAlone() async throws {
        let own = try TestCertificate("app")
        let temporary = try await TemporaryVault(in: .memory)
        let registration = try ProviderRegistration(
            name: "dev", tokenEndpoint: EndpointURL("http://127.0.0.1:1/token", allowsInsecureLoopback: true),
            clientID: ClientID("app"), authentication: .tlsClientAuth(own.client))
        await #expect(throws: VaultError.self) { try await temporary.vault.addProvider(registration) }
        var unbound = try ProviderRegistration(
            name: "dev", tokenEndpoint: EndpointURL("https://as.example/token"), clientID: ClientID("app"))
        unbound.bindsTokensToCertificate = true
        await #expect(throws: VaultError.self) { try await temporary.vault.addProvider(unbound) }
        await temporary.vault.close()
    }

    @Test func certificateIsRemovedWithItsMethodUnlessBound() async throws {
        let own = try TestCertificate("app")
        let temporary = try await TemporaryVault(in: .memory)
        let vault = temporary.vault
        try await vault.addProvider(
            ProviderRegistration(
                name: "dev", tokenEndpoint: EndpointURL("https://as.example/token"), clientID: ClientID("app"),
                authentication: .tlsClientAuth(own.client)))
        var change = ProviderChange()
        change.bindsTokensToCertificate = true
        change.authentication = .clientSecretPost(try ClientSecret("secret"))
        #expect(try await vault.changeProvider(named: "dev", change).current.certificate != nil)
        change = ProviderChange()
        change.tokenCertificate = .remove
        await #expect(throws: VaultError.self) { try await vault.changeProvider(named: "dev", change) }
        change.bindsTokensToCertificate = false
        #expect(try await vault.changeProvider(named: "dev", change).current.certificate == nil)
        change = ProviderChange()
        change.authentication = .tlsClientAuth(try own.client)
        _ = try await vault.changeProvider(named: "dev", change)
        change.authentication = ClientAuthentication.none
        #expect(try await vault.changeProvider(named: "dev", change).current.certificate == nil)
        await vault.close()
    }
}
