import FoundationEssentials
import HTTPTypes
import OAuthClient
import Testing
import TokenVault
import TokenVaultTesting

/// What a provider's profile changes, from the log-in to the log-out.
struct ProfileTests {
    private func provider(
        _ profile: String, _ change: (inout ProviderRegistration) throws -> Void = { _ in }
    ) throws -> ProviderRegistration {
        var registration = Sample.provider()
        registration.profile = profile
        try change(&registration)
        return registration
    }

    private func logIn(_ world: World, dpop: DPoPKey? = nil) async throws -> Login {
        try await world.users.logIn(
            LogInRequest(userId: "alice", provider: "acme"), authorizationCode: AuthorizationCode("CANARY-code"),
            codeVerifier: .random(), dpopKey: dpop)
    }

    @Test func slacksBotAndUserBecomeTwoLogins() async throws {
        let world = try await World(provider: try provider("slack"))
        world.transport.enqueue(
            .json(
                """
                {"ok":true,"access_token":"CANARY-access-bot","token_type":"bot","refresh_token":"CANARY-refresh-bot",\
                "expires_in":43200,"scope":"chat:write","authed_user":{"access_token":"CANARY-access-user",\
                "token_type":"user","refresh_token":"CANARY-refresh-user","expires_in":43200,"scope":"search:read"}}
                """))
        let bot = try await logIn(world)
        // The challenge is sent to every server, and the verifier with its code.
        #expect(world.transport.requests.first?.form["code_verifier"] != nil)
        let logins = try await world.vault.logins(ofUser: "alice").compactMap { entry in
            if case .login(let login) = entry { login } else { nil }
        }
        #expect(Set(logins.map(\.label)) == [nil, "user"])
        #expect(bot.scope?.description == "chat:write")
        let user = try #require(logins.first { $0.id != bot.id })
        #expect(user.scope?.description == "search:read")
        #expect(user.isRefreshable)
        #expect(try await world.users.accessToken(for: .login(user.id)).name == "user")
        // Each is a chain of its own.
        world.time.advance(by: .seconds(43_201))
        world.transport.enqueue(.json(#"{"ok":false,"error":"invalid_refresh_token"}"#))
        #expect(await code { try await world.users.accessToken(for: .login(bot.id)) } == .refreshFailed)
        world.transport.enqueue(
            .json(
                """
                {"ok":true,"access_token":"CANARY-access-user-2","token_type":"user",\
                "refresh_token":"CANARY-refresh-user-2","expires_in":43200}
                """))
        #expect(try await world.users.accessToken(for: .login(user.id)).name == "user-2")
        #expect(world.transport.requests.last?.form["refresh_token"] == "CANARY-refresh-user")
    }

    @Test func aProfileOfOnesOwnIsSealedWithTheProvider() async throws {
        let document =
            #"{"profile":1,"name":"own","source":[{"url":"u","read":"2026-01-31"}],"errors":{"dead":["gone"]}}"#
        let world = try await World(provider: try provider("generic") { $0.profileDocument = Array(document.utf8) })
        #expect(try await world.vault.provider(named: "acme").profile == "own")
        #expect(try await world.vault.profile(ofProvider: "acme").name == "own")
        let login = try await world.addChain()
        world.expire()
        world.transport.enqueue(.error("gone"))
        let other = try await world.anotherProcess()
        #expect(await code { try await other.users.accessToken(for: .login(login.id)) } == .refreshFailed)
    }

    @Test func aProfileThatCannotBeReadAddsNoProvider() async throws {
        let world = try await World()
        var registration = try provider("nobody") { $0.name = "other" }
        #expect(await code { try await world.vault.addProvider(registration) } == .invalidArgument)
        registration.profile = "generic"
        registration.profileDocument = Array(#"{"profile":1,"name":"own","source":[]}"#.utf8)
        #expect(await code { try await world.vault.addProvider(registration) } == .invalidArgument)
        #expect(try await world.vault.providerEntries().compactMap(\.provider?.name) == ["acme"])
    }

    @Test func aLogInIsPushedAndItsNonceGoesWithTheCode() async throws {
        let world = try await World(
            provider: try provider("bluesky") {
                $0.pushedAuthorizationEndpoint = try EndpointURL("https://acme.example/par")
                $0.dpop = .required
            })
        let nonce: HTTPFields = [.init("DPoP-Nonce")!: "nonce-1"]
        world.transport.enqueue(.error("use_dpop_nonce", headers: nonce))
        world.transport.enqueue(
            .json(#"{"request_uri":"urn:example:1","expires_in":60}"#, status: .created, headers: nonce))
        let request = try await world.users.beginLogIn(LogInRequest(userId: "alice", provider: "acme"))
        #expect(request.url == "https://acme.example/authorize?client_id=client-1&request_uri=urn%3Aexample%3A1")
        #expect(world.transport.requests.map(\.path) == ["/par", "/par"])
        #expect(world.transport.requests.last?.form["code_challenge_method"] == "S256")
        world.transport.enqueue(
            .tokens(accessToken: "CANARY-access-1", refreshToken: "CANARY-refresh-1", tokenType: "DPoP"))
        let login = try await world.users.completeLogIn(
            .url("https://app.example/callback?code=CANARY-code&state=\(request.state)"), boundTo: request.binding
        ).login
        #expect(login.isDPoPBound)
        // With the nonce of the pushed request, no other has to be fetched first.
        #expect(world.transport.requests.count == 3)
    }

    @Test func withoutAnEndpointForThemNoRequestIsPushed() async throws {
        let world = try await World(provider: try provider("bluesky") { $0.dpop = .required })
        #expect(
            await code { try await world.users.beginLogIn(LogInRequest(userId: "alice", provider: "acme")) }
                == .providerMisconfigured)
        #expect(world.transport.requests.isEmpty)
    }

    @Test func aNonceIsFetchedBeforeTheRefreshTokenTravels() async throws {
        let world = try await World(provider: try provider("bluesky") { $0.dpop = .required })
        try await world.addChain(dpopKey: .generate())
        world.expire()
        let nonce: HTTPFields = [.init("DPoP-Nonce")!: "nonce-1"]
        world.transport.enqueue(.error("use_dpop_nonce", headers: nonce))
        world.transport.enqueue(
            .tokens(accessToken: "CANARY-access-2", refreshToken: "CANARY-refresh-2", tokenType: "DPoP"))
        #expect(try await world.users.accessToken(userId: "alice").name == "2")
        #expect(world.transport.requests.map { $0.form["refresh_token"] } == [nil, "CANARY-refresh-1"])
    }

    @Test(arguments: [(#""replay":"never""#, 1), (#""replay":"auto""#, 2), (#""graceSeconds":3600"#, 4)])
    func profileLimitsReplaysAfterALostReply(refresh: String, requests: Int) async throws {
        let document = #"{"profile":1,"name":"own","source":[{"url":"u","read":"2026-01-31"}],"refresh":{\#(refresh)}}"#
        let world = try await World(provider: try provider("generic") { $0.profileDocument = Array(document.utf8) })
        try await world.addChain()
        world.expire()
        world.transport.fallback = .failure(.maybeSent, .timeout)
        await world.withTimePassing {
            _ = await code { try await world.users.accessToken(userId: "alice") }
        }
        #expect(world.transport.requests.count == requests)
    }

    @Test func atMicrosoftARefreshRepeatsTheScope() async throws {
        let world = try await World(provider: try provider("entra"))
        world.transport.enqueue(.generation("1"))
        _ = try await logIn(world)
        world.expire()
        world.transport.enqueue(.generation("2"))
        #expect(try await world.users.accessToken(userId: "alice").name == "2")
        #expect(world.transport.requests.last?.form["scope"] == "read write")
    }

    @Test func aClientWithAKeySendsAssertions() async throws {
        let key = try ClientAssertionKey(pem: Self.pem, keyID: "k-1")
        let world = try await World(provider: try provider("generic") { $0.authentication = .privateKeyJWT(key) })
        #expect(try await world.vault.provider(named: "acme").clientAuthentication == "private_key_jwt")
        try await world.addChain()
        world.expire()
        world.transport.enqueue(.generation("2"))
        _ = try await world.users.accessToken(userId: "alice")
        let form = try #require(world.transport.requests.last?.form)
        #expect(form["client_assertion"]?.split(separator: ".").count == 3)
        #expect(form["client_secret"] == nil)
    }

    /// Made for this test.
    private static let pem = """
        -----BEGIN EC PRIVATE KEY-----
        MHcCAQEEIMxqPSpNcsmnOGiEezqeXqVCr8BbgcA6UvsGO8w9OAE8oAoGCCqGSM49
        AwEHoUQDQgAEFBPU72mw0uCb+S6kmPC9KkLyW8XzHwnymj/5Hcjre8yZRY/0c300
        QAt+Eo7NLSY9tGES73/8a6fyNgOyGx2dBQ==
        -----END EC PRIVATE KEY-----
        """
}
