import FoundationEssentials
import HTTPTypes
import OAuthClient
import Testing
import TokenVaultTesting
import VaultCrypto
import VaultStorage

import TokenVault

/// `renewWithAuthToken` at a provider that gives its own tokens for those of the app's server.
struct AuthTokenExchangeTests {
    static let assertion = #"{"grant":"jwtBearer"}"#

    private func makeWorld(
        _ answers: RecordingSessionHandler.Answer..., exchange: String = assertion
    ) async throws -> (World, RecordingSessionHandler, Login) {
        let handler = RecordingSessionHandler()
        for answer in answers { handler.enqueue(answer) }
        let world = try await World(provider: World.provider(exchange: exchange))
        world.users.setSessionHandler(handler)
        return (world, handler, try await world.addChain())
    }

    @Test(arguments: [
        (
            #"{"grant":"jwtBearer","parameters":{"x":"y"}}"#,
            ["grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer", "assertion": "CANARY-access-app", "x": "y"]
        ),
        (
            #"{"grant":"tokenExchange","audience":"api"}"#,
            [
                "grant_type": "urn:ietf:params:oauth:grant-type:token-exchange", "subject_token": "CANARY-access-app",
                "subject_token_type": "urn:ietf:params:oauth:token-type:jwt", "audience": "api",
                "requested_token_type": "urn:ietf:params:oauth:token-type:access_token",
            ]
        ),
    ])
    func theTokenIsExchangedByTheGrantOfTheProfile(_ exchange: String, _ fields: [String: String]) async throws {
        let (world, _, login) = try await makeWorld(RecordingSessionHandler.token("app"), exchange: exchange)
        world.transport.enqueue(.tokens(accessToken: "CANARY-access-2"))
        world.time.advance(by: .seconds(3_500))
        #expect(try await world.users.accessToken(userId: "alice").name == "2")
        #expect(world.transport.requests.map(\.form) == [fields])
        #expect(world.transport.requests.first?.request.headerFields[.authorization]?.hasPrefix("Basic ") == true)
        // Ahead of expiry the chain goes on, with its refresh token.
        let stored = try await world.stored(login)
        #expect(stored.position == .init(chain: 1, generation: 2))
        #expect(stored.refresh?.refreshToken?.string() == "CANARY-refresh-1")
        #expect(stored.intent == nil)
    }

    @Test func afterExpiryTheRenewalIsAFullLogIn() async throws {
        let (world, _, login) = try await makeWorld(RecordingSessionHandler.token("app"))
        world.transport.enqueue(.tokens(accessToken: "CANARY-access-2"))
        world.expire()
        #expect(try await world.users.accessToken(userId: "alice").name == "2")
        let stored = try await world.stored(login)
        #expect(stored.position == .init(chain: 2, generation: 2))
        #expect(stored.refresh?.refreshToken == nil)
    }

    /// The id token says who logged in; from then on later ones must name the same.
    @Test func whoseFullLogInItIsCanBeRead() async throws {
        let (world, _, login) = try await makeWorld(
            RecordingSessionHandler.token("app"), RecordingSessionHandler.token("app"))
        #expect(login.subject == nil)
        for (subject, expected) in [("CANARY-one", nil), ("CANARY-other", VaultError.Code.tryLater)] {
            var token = SampleIDToken(now: world.now)
            token.claims["sub"] = "\"\(subject)\""
            world.transport.enqueue(
                .json(
                    #"{"access_token":"CANARY-access-2","token_type":"Bearer","expires_in":60,"id_token":"\#(token.text)"}"#
                ))
            world.expire()
            #expect(await code { try await world.users.accessToken(userId: "alice") } == expected)
            #expect(try await world.vault.login(login.id).subject == "CANARY-one")
        }
    }

    @Test func aRefreshTokenInTheReplyStartsANewChain() async throws {
        let (world, handler, login) = try await makeWorld(
            RecordingSessionHandler.token("app"), RecordingSessionHandler.consent)
        world.transport.enqueue(.generation("2"), .generation("3"))
        world.time.advance(by: .seconds(3_500))
        #expect(try await world.users.accessToken(userId: "alice").name == "2")
        let stored = try await world.stored(login)
        #expect(stored.position == .init(chain: 2, generation: 2))
        #expect(stored.refresh?.previousRefresh == nil)
        world.expire()
        #expect(try await world.users.accessToken(userId: "alice").name == "3")
        #expect(world.transport.requests.last?.form["refresh_token"] == "CANARY-refresh-2")
        #expect(handler.asked == 2)
    }

    @Test func appTokenRefusedByProviderPostponesOnly() async throws {
        let (world, handler, login) = try await makeWorld(
            RecordingSessionHandler.token("app"), RecordingSessionHandler.consent)
        world.transport.enqueue(.error("invalid_grant"), .generation("2"))
        world.expire()
        for _ in 0..<3 { #expect(await code { try await world.users.accessToken(userId: "alice") } == .tryLater) }
        #expect(handler.asked == 1)
        await #expect(try world.stored(login).session.failure == nil)
        world.time.advance(by: .seconds(660))
        #expect(try await world.users.accessToken(userId: "alice").name == "2")
    }

    @Test func aLostReplyLeavesNoDoubt() async throws {
        let (world, handler, login) = try await makeWorld(
            RecordingSessionHandler.token("app"), RecordingSessionHandler.token("app"))
        world.transport.enqueue(.failure(.maybeSent, .timeout), .tokens(accessToken: "CANARY-access-2"))
        world.expire()
        #expect(await code { try await world.users.accessToken(userId: "alice") } == .tryLater)
        await #expect(try world.stored(login).intent == nil)
        world.time.advance(by: .seconds(1))
        #expect(try await world.users.accessToken(userId: "alice").name == "2")
        #expect(handler.asked == 2)
    }

    @Test func aProviderThatRefusesTheClientOpensItsBreaker() async throws {
        let (world, handler, login) = try await makeWorld(RecordingSessionHandler.token("app"))
        world.transport.enqueue(.error("invalid_client", status: .unauthorized))
        world.expire()
        for _ in 0..<2 {
            #expect(await code { try await world.users.accessToken(userId: "alice") } == .providerMisconfigured)
        }
        #expect(handler.asked == 1)
        await #expect(try world.stored(login).session.failure == nil)
    }

    @Test("without an exchange, the app's token is refused and the handler may still answer")
    func withoutAnExchangeAppTokenIsRefused() async throws {
        let handler = RecordingSessionHandler(keeps: true)
        let world = try await World()
        world.users.setSessionHandler(handler)
        try await world.addChain()
        world.transport.enqueue(.generation("2"))
        world.expire()
        let caller = Task { try await world.users.accessToken(userId: "alice").name }
        await handler.waitForQuestion()
        let renewal = try #require(handler.last)
        let token = try AuthToken("CANARY-auth")
        #expect(await errorCode { try await renewal.renewWithAuthToken(token) } == .invalidArgument)
        #expect(renewal.isOpen)
        try await renewal.renew()
        #expect(try await caller.value == "2")
    }

    /// Tokens that cannot be stored are spooled; the next process takes them up as what they are.
    @Test func aReplyThatCannotBeStoredIsALogInAllTheSame() async throws {
        let (world, _, login) = try await makeWorld()
        let spool = MemorySpools()
        let process = try await world.faulty(spool: spool)
        let handler = RecordingSessionHandler(RecordingSessionHandler.token("app"))
        process.users.setSessionHandler(handler)
        world.transport.enqueue(.generation("2"))
        world.expire()
        process.store.fail(Array(repeating: .before, count: 1_000), afterCommits: 1)
        let token = try await process.users.accessToken(userId: "alice")
        #expect(token.name == "2")
        #expect(token.isVolatile)
        // Its process is killed, and the next one finds what it left.
        spool.orphanAll()
        let gone = world.goneOwner
        try await world.vault.store.updateLogin(login.id.handle) { $0.intent?.owner = gone }
        let next = try await world.faulty(spool: spool)
        #expect(try await next.users.accessToken(userId: "alice").name == "2")
        let stored = try await world.stored(login)
        #expect(stored.position == .init(chain: 2, generation: 2))
        #expect(stored.refresh?.refreshToken?.string() == "CANARY-refresh-2")
        #expect(world.transport.requestCount == 1)
    }
}
