import FoundationEssentials
import OAuthClient
import Testing
import TokenVault
import TokenVaultTesting
import VaultStorage

/// What is taken from social.plus about renewals, in detail; its sentences are in OtherSDKs.
struct SocialPlusTests {
    private func makeWorld(
        _ handler: RecordingSessionHandler, exchange: String? = nil
    ) async throws -> (World, Login) {
        let world = try await World(provider: exchange.map { try World.provider(exchange: $0) })
        world.users.setSessionHandler(handler)
        return (world, try await world.addChain())
    }

    @Test func renewUsesTheRefreshToken() async throws {
        let handler = RecordingSessionHandler(RecordingSessionHandler.consent)
        let (world, login) = try await makeWorld(handler)
        world.transport.enqueue(.generation("2"))
        world.time.advance(by: .seconds(3_500))
        #expect(try await world.users.accessToken(userId: "alice").name == "2")
        #expect(handler.asked == 1)
        #expect(world.transport.requests.map { $0.form["refresh_token"] } == [Sample.marker + "refresh-1"])
        let stored = try await world.stored(login)
        #expect(stored.position == .init(chain: 1, generation: 2))
        #expect(stored.intent == nil)
        await #expect(try world.tale().suffix(2) == ["renewalStarted", "renewed"])
    }

    @Test func manyCallersAskOnce() async throws {
        let handler = RecordingSessionHandler(keeps: true)
        let (world, _) = try await makeWorld(handler)
        world.transport.enqueue(.generation("2"))
        world.expire()
        try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<200 { group.addTask { try await world.users.accessToken(userId: "alice").name } }
            await handler.waitForQuestion()
            try await handler.last?.renew()
            for try await name in group { #expect(name == "2") }
        }
        #expect(handler.asked == 1)
        #expect(world.transport.requestCount == 1)
    }

    @Test func renewWithAuthTokenStoresItWithoutAProvider() async throws {
        let world = try await World()
        let handler = RecordingSessionHandler()
        world.users.setSessionHandler(handler)
        let login = try await world.addPlainLogin()
        handler.enqueue(RecordingSessionHandler.token("2", expiresAt: world.now.addingTimeInterval(9_000)))
        world.expire()
        #expect(try await world.users.accessToken(userId: "alice").name == "2")
        #expect(try await world.vault.login(login.id).generation == 2)
        #expect(world.transport.requestCount == 0)
    }

    @Test func aSecondAnswerIsAnErrorAndDoesNothing() async throws {
        let handler = RecordingSessionHandler(keeps: true)
        let (world, login) = try await makeWorld(handler)
        world.transport.enqueue(.generation("2"))
        world.expire()
        let caller = Task { try await world.users.accessToken(userId: "alice").name }
        await handler.waitForQuestion()
        let renewal = try #require(handler.last)
        try await renewal.renew()
        #expect(await errorCode { try await renewal.renew() } == .renewalAnswered)
        #expect(await errorCode { try await renewal.unableToRetrieveAuthToken() } == .renewalAnswered)
        #expect(try await caller.value == "2")
        #expect(await errorCode { try await renewal.unableToRetrieveAuthToken() } == .renewalAnswered)
        #expect(world.transport.requestCount == 1)
        #expect(try await world.vault.login(login.id).notBefore == nil)
    }

    /// Neither a refresh token nor a handler, and a provider without an exchange: the first answer counts nonetheless.
    @Test(arguments: [false, true])
    func aSecondAnswerIsRefusedBeforeItsMeans(hasProvider: Bool) async throws {
        let handler = RecordingSessionHandler(keeps: true)
        let world = try await World()
        world.users.setSessionHandler(handler)
        _ = try await world.users.addLogin(
            userId: "alice", provider: hasProvider ? "acme" : nil, accessToken: Sample.accessToken(),
            expiresAt: world.now.addingTimeInterval(3_600))
        world.expire()
        let caller = Task { await errorCode { _ = try await world.users.accessToken(userId: "alice") } }
        await handler.waitForQuestion()
        let renewal = try #require(handler.last)
        #expect(await errorCode { try await renewal.renew() } == .notRefreshable)
        if hasProvider {
            #expect(await errorCode { try await renewal.renewWithAuthToken(AuthToken("x")) } == .invalidArgument)
        }
        try await renewal.unableToRetrieveAuthToken()
        #expect(await errorCode { try await renewal.renew() } == .renewalAnswered)
        #expect(await errorCode { try await renewal.renewWithAuthToken(AuthToken("x")) } == .renewalAnswered)
        #expect(await errorCode { try await renewal.unableToRetrieveAuthToken() } == .renewalAnswered)
        #expect(await caller.value == .tryLater)
    }

    @Test(arguments: ["update", "updateElsewhere", "logOut", "disable", "newHandler", "noHandler", "close"])
    func theRenewalIsVoidOnceSuperseded(by change: String) async throws {
        let handler = RecordingSessionHandler(keeps: true)
        let (world, login) = try await makeWorld(handler)
        world.transport.enqueue(.generation("3"))
        world.expire()
        let caller = Task { try? await world.users.accessToken(userId: "alice").name }
        await handler.waitForQuestion()
        let renewal = try #require(handler.last)
        let (token, expiry) = (Sample.accessToken("2"), world.now.addingTimeInterval(3_600))
        switch change {
        case "update":
            _ = try await world.users.updateAccessToken(for: .login(login.id), accessToken: token, expiresAt: expiry)
        case "updateElsewhere":
            let other = try await world.anotherProcess()
            try await other.users.updateAccessToken(for: .login(login.id), accessToken: token, expiresAt: expiry)
        case "logOut": try await world.users.logOut(.login(login.id), revokes: false)
        case "disable": try await world.users.disableUser("alice")
        case "newHandler": world.users.setSessionHandler(RecordingSessionHandler(RecordingSessionHandler.consent))
        case "noHandler": world.users.setSessionHandler(nil)
        default: await world.vault.close()
        }
        #expect(await errorCode { try await renewal.unableToRetrieveAuthToken() } == .renewalVoid)
        #expect(!renewal.isOpen)
        let name = await caller.value
        switch change {
        case "update", "updateElsewhere": #expect(name == "2")
        case "newHandler", "noHandler": #expect(name == "3")
        default: #expect(name == nil)
        }
        if change != "logOut", change != "close" { await #expect(try world.stored(login).session.notBefore == nil) }
    }

    @Test func aNewHandlerIsAskedInPlaceOfTheOldOne() async throws {
        let old = RecordingSessionHandler(keeps: true)
        let (world, _) = try await makeWorld(old)
        world.transport.enqueue(.generation("2"))
        world.expire()
        let caller = Task { try await world.users.accessToken(userId: "alice").name }
        await old.waitForQuestion()
        let new = RecordingSessionHandler(RecordingSessionHandler.consent)
        world.users.setSessionHandler(new)
        #expect(try await caller.value == "2")
        #expect((old.asked, new.asked) == (1, 1))
        #expect(world.transport.requestCount == 1)
    }

    @Test("unableToRetrieveAuthToken() postpones for ten minutes, in every process and across restarts")
    func unableToRetrieveAuthTokenPostponesEverywhere() async throws {
        let handler = RecordingSessionHandler(RecordingSessionHandler.unable)
        let (world, login) = try await makeWorld(handler)
        let other = try await world.anotherProcess(handler)
        world.time.advance(by: .seconds(3_400))
        // The old token is still good enough: it is served, and nobody asks again.
        #expect(try await world.users.accessToken(userId: "alice").name == "1")
        #expect(try await other.users.accessToken(userId: "alice").name == "1")
        #expect(handler.asked == 1)
        let until = try #require(try await world.vault.login(login.id).notBefore)
        #expect((600...660).contains(until.timeIntervalSince(world.now)))
        await world.vault.close()
        await other.vault.close()

        let next = try await world.anotherProcess(handler)
        world.time.advance(by: .seconds(599))
        #expect(await code { try await next.users.accessToken(userId: "alice") } == .tryLater)
        #expect(handler.asked == 1)
        world.time.advance(by: .seconds(61))
        handler.enqueue(RecordingSessionHandler.consent)
        world.transport.enqueue(.generation("2"))
        #expect(try await next.users.accessToken(userId: "alice").name == "2")
        #expect(handler.asked == 2)
    }

    @Test func aNewTokenOfTheAppEndsThePostponement() async throws {
        let handler = RecordingSessionHandler(RecordingSessionHandler.unable, RecordingSessionHandler.consent)
        let (world, login) = try await makeWorld(handler)
        world.expire()
        #expect(await code { try await world.users.accessToken(userId: "alice") } == .tryLater)
        try await world.users.updateAccessToken(
            for: .login(login.id), accessToken: Sample.accessToken("2"), expiresAt: world.now.addingTimeInterval(60))
        await #expect(try world.vault.login(login.id).notBefore == nil)
        world.transport.enqueue(.generation("3"))
        world.expire()
        #expect(try await world.users.accessToken(userId: "alice").name == "3")
    }

    @Test func theHandlerIsAskedAheadOfExpiryAndAfterIt() async throws {
        let handler = RecordingSessionHandler(keeps: true)
        handler.enqueue(RecordingSessionHandler.unable, RecordingSessionHandler.unable)
        let (world, _) = try await makeWorld(handler)
        world.time.advance(by: .seconds(3_400))
        _ = try await world.users.accessToken(userId: "alice")
        #expect(handler.last?.isLogIn == false)
        world.time.advance(by: .seconds(1_000))
        #expect(await code { try await world.users.accessToken(userId: "alice") } == .tryLater)
        #expect(handler.asked == 2)
        #expect(handler.last?.isLogIn == true)
    }

    @Test func aDeadLoginIsNotAskedFor() async throws {
        let handler = RecordingSessionHandler(RecordingSessionHandler.consent)
        let (world, _) = try await makeWorld(handler)
        world.transport.enqueue(.error("invalid_grant"))
        world.expire()
        for _ in 0..<3 { #expect(await code { try await world.users.accessToken(userId: "alice") } == .refreshFailed) }
        #expect(handler.asked == 1)
        #expect(world.transport.requestCount == 1)
    }
}
