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
import VaultStorage

/// Clients that register themselves, over real HTTP (RFC 7591, RFC 7592).
struct RegistrationWireTests {
    private static func with(
        _ policy: RegistrationPolicy = RegistrationPolicy(), _ body: (MutualWorld) async throws -> Void
    ) async throws {
        try await MutualWorld.with(clients: []) {
            $0.registration = policy
        } _: {
            try await body($0)
        }
    }

    private static func client(
        _ authentication: ClientRegistration.Authentication = .clientSecretBasic
    ) throws -> ClientRegistration {
        ClientRegistration(
            redirectURIs: [try RedirectURI("https://app.example/callback")], authentication: authentication,
            clientName: "App", scope: try Scope("openid read"))
    }

    private static let assertionKey = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgevZzL1gdAFr88hb2
        OF/2NxApJCzGCEDdfSp6VQO30hyhRANCAAQRWz+jn65BtOMvdyHKcvjBeBSDZH2r
        1RTwjmYSi9R/zpBnuQ4EiMnCqfMPWiZqB4QdbAd0E7oH50VpuZ1P087G
        -----END PRIVATE KEY-----
        """

    /// A client that was registered a moment ago logs users in.
    @Test(arguments: [
        "none", "client_secret_basic", "client_secret_post", "private_key_jwt", "self_signed_tls_client_auth",
    ])
    func aRegisteredClientWorks(_ method: String) async throws {
        let certificate = try TestCertificate("app")
        let authentication: ClientRegistration.Authentication =
            switch method {
            case "none": .none
            case "client_secret_post": .clientSecretPost
            case "private_key_jwt": .privateKeyJWT(try ClientAssertionKey(pem: Self.assertionKey, keyID: "k1"))
            case "self_signed_tls_client_auth": .selfSignedTLSClientAuth(try certificate.client)
            default: .clientSecretBasic
            }
        try await Self.with { world in
            let provider = try await world.users.registerProvider(
                "dev", issuer: world.server.issuer, Self.client(authentication))
            #expect(provider.clientAuthentication == method)
            #expect(provider.isRegistrationManaged)
            let login = try await world.logIn()
            #expect(try await world.users.accessToken(for: .login(login.id), .renewed).generation == 2)
            let facts = try await world.users.registration(ofProvider: "dev")
            #expect(facts.clientID == provider.clientID)
            #expect(facts.clientName == "App")
            #expect(facts.redirectURIs == ["https://app.example/callback"])
        }
    }

    /// The provider replaces the token for the registration at each use, and the secret at each change.
    @Test func whatTheProviderReplacesIsStoredFirst() async throws {
        try await Self.with(RegistrationPolicy(rotatesTokens: true, replacesSecrets: true)) { world in
            try await world.users.registerProvider("dev", issuer: world.server.issuer, Self.client())
            for _ in 0..<3 { _ = try await world.users.registration(ofProvider: "dev") }
            let change = ClientRegistrationChange(
                redirectURIs: [try RedirectURI("https://other.example/callback")], clientName: "Other")
            let facts = try await world.users.updateRegistration(ofProvider: "dev", change)
            #expect(facts.clientName == "Other")
            #expect(facts.redirectURIs == ["https://other.example/callback"])
            // What was not to be changed is still registered.
            #expect(facts.grantTypes == ["authorization_code", "refresh_token"])
            let provider = try await world.vault.provider(named: "dev")
            #expect(provider.redirectURI?.rawValue == "https://other.example/callback")
            // The new secret is in use.
            let login = try await world.logIn()
            #expect(try await world.users.accessToken(for: .login(login.id), .renewed).generation == 2)
            #expect(!world.outcomes.contains("/token invalid_client"))
            let verified = try await world.vault.verify()
            #expect(verified.findings.isEmpty)
        }
    }

    @Test func anInitialAccessTokenIsAskedForAndNotKept() async throws {
        try await Self.with(RegistrationPolicy(initialAccessToken: "CANARY-initial")) { world in
            do {
                try await world.users.registerProvider("dev", issuer: world.server.issuer, Self.client())
                Issue.record("a registration without the token")
            } catch let error as VaultError {
                #expect(error.code == .providerMisconfigured)
                #expect(error.hint?.contains("initial access token") == true)
            }
            try await world.users.registerProvider(
                "dev", issuer: world.server.issuer, Self.client(), initialAccessToken: AccessToken("CANARY-initial"))
            #expect(try await world.users.registration(ofProvider: "dev").clientName == "App")
        }
    }

    /// The reply was the only copy of the secret: nothing is stored, and the operator hears what may be at the provider.
    @Test(arguments: [true, false])
    func aLostReplyIsTold(hasActed: Bool) async throws {
        try await Self.with { world in
            var fault = Fault.drop(afterActing: hasActed)
            fault.path = "/register"
            world.server.faults.add(fault)
            do {
                try await world.users.registerProvider("dev", issuer: world.server.issuer, Self.client())
                Issue.record("a registration without a reply")
            } catch let error as VaultError {
                #expect(error.code == .protocolViolation)
                #expect(error.message.contains("may have registered a client"))
            }
            #expect(try await world.vault.providerEntries().isEmpty)
            // Once, and no second time.
            #expect(world.server.log.records.count { $0.path == "/register" } == 1)
        }
    }

    @Test func aNameThatIsTakenIsKnownBeforeAnythingIsRegistered() async throws {
        try await Self.with { world in
            try await world.users.registerProvider("dev", issuer: world.server.issuer, Self.client())
            await #expect(throws: VaultError.self) {
                try await world.users.registerProvider("dev", issuer: world.server.issuer, Self.client())
            }
            #expect(world.server.log.records.count { $0.path == "/register" } == 1)
        }
    }

    @Test func whatTheProviderRefusesIsToldInItsWords() async throws {
        try await Self.with { world in
            var client = try Self.client()
            client.redirectURIs = [try RedirectURI("com.example.app:/callback")]
            do {
                try await world.users.registerProvider("dev", issuer: world.server.issuer, client)
                Issue.record("a registration with a redirect URI that is refused")
            } catch let error as VaultError {
                #expect(error.code == .invalidArgument)
                #expect(error.answer?.words.contains("redirect") == true)
            }
            #expect(try await world.vault.providerEntries().isEmpty)
        }
    }

    @Test func aRegistrationIsNotDeletedUnderItsLogins() async throws {
        try await Self.with { world in
            let provider = try await world.users.registerProvider("dev", issuer: world.server.issuer, Self.client())
            try await world.logIn()
            do {
                try await world.users.deleteRegistration(ofProvider: "dev")
                Issue.record("a registration was deleted under a login")
            } catch let error as VaultError {
                #expect(error.code == .inUse)
            }
            #expect(try await world.users.registration(ofProvider: "dev").clientID == provider.clientID)
            try await world.users.deleteRegistration(ofProvider: "dev", force: true)
            #expect(try await world.vault.provider(named: "dev").isRegistrationManaged == false)
            await #expect(throws: VaultError.self) { try await world.users.registration(ofProvider: "dev") }
            let kinds = try await world.vault.auditRecords(after: 0).records.map(\.kind)
            #expect(kinds.contains("clientRegistered") && kinds.contains("clientRegistrationDeleted"))
        }
    }

    @Test func aProviderWithoutTheEndpointSaysSo() async throws {
        try await MutualWorld.with(clients: []) { world in
            do {
                try await world.users.registerProvider("dev", issuer: world.server.issuer, Self.client())
                Issue.record("a registration without an endpoint")
            } catch let error as VaultError {
                #expect(error.code == .invalidArgument)
                #expect(error.message.contains("does not let clients register"))
            }
        }
    }
}
