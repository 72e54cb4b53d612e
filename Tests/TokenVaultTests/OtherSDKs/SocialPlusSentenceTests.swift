import EngineSupport
import FoundationEssentials
import OAuthClient
import TestSupport
import Testing
import TokenVaultTesting

@testable import TokenVault

/// What social.plus's SDK says, sentence by sentence: the table in docs/from-other-sdks.md has the same ones.
struct SocialPlusSentenceTests {
    private static func makeWorld(_ handler: RecordingSessionHandler) async throws -> (world: World, login: Login) {
        let world = try await World()
        world.users.setSessionHandler(handler)
        return (world, try await world.addChain())
    }

    @Test("the initial state is notLoggedIn")
    func theFirstStateIsNotLoggedIn() async throws {
        let world = try await World()
        await #expect(try world.users.sessionState(of: .user("alice")) == .notLoggedIn)
        await #expect(StateWatcher(world.vault, .user("alice")).states() == [.notLoggedIn])
    }

    @Test("already logged in: resumes the session, and switches to established")
    func aSessionIsResumedFromTheFile() async throws {
        let world = try await World()
        try await world.addChain()
        await world.vault.close()
        let later = try await world.anotherProcess()
        await #expect(try later.users.sessionState(of: .user("alice")) == .established)
        #expect(world.transport.requestCount == 0)
    }

    @Test("a login that succeeds: establishing, then established")
    func aLogInIsEstablishingAndThenEstablished() async throws {
        let world = try await World()
        let states = await StateWatcher(world.vault, .user("alice"))
        let (logIn, gate) = await world.startLogIn(answer: .generation("1"))
        await #expect(states.states() == [.notLoggedIn, .establishing])
        gate.open()
        _ = try await logIn.value
        await #expect(states.states() == [.established])
    }

    @Test("a login that fails: notLoggedIn")
    func aFailedLogInEndsAsItBegan() async throws {
        let world = try await World()
        let states = await StateWatcher(world.vault, .user("alice"))
        let (logIn, gate) = await world.startLogIn(answer: .error("invalid_grant"))
        await #expect(states.states() == [.notLoggedIn, .establishing])
        gate.open()
        await #expect(throws: VaultError.self) { try await logIn.value }
        await #expect(states.states() == [.notLoggedIn])
    }

    @Test("logout: notLoggedIn")
    func aLogOutLeadsBackToNotLoggedIn() async throws {
        let world = try await World()
        let login = try await world.addChain()
        world.transport.fallback = .status(.ok)
        try await world.users.logOut(.login(login.id))
        await #expect(try world.users.sessionState(of: .user("alice")) == .notLoggedIn)
    }

    /// Nobody tells the vault of a ban at your service: the app does.
    @Test("banned or deleted: terminated", .tags(.differs))
    func theAppReportsABan() async throws {
        let world = try await World()
        let (first, second) = try await (world.addChain(name: "a"), world.addChain(name: "b"))
        world.transport.fallback = .status(.ok)
        try await world.users.terminate(.login(first.id), reason: .globalBan)
        try await world.users.terminate(.login(second.id), reason: .userDeleted)
        await #expect(try world.users.sessionState(of: .login(first.id)) == .terminated(.globalBan))
        await #expect(try world.users.sessionState(of: .login(second.id)) == .terminated(.userDeleted))
    }

    @Test("the token expires: tokenExpired")
    func anExpiredTokenIsAState() async throws {
        let world = try await World()
        let states = await StateWatcher(world.vault, try await world.addChain())
        world.expire()
        await #expect(states.states() == [.established, .tokenExpired(nil)])
    }

    @Test("read and observe the state")
    func theStateThatIsObservedIsTheOneThatIsRead() async throws {
        let world = try await World()
        let login = try await world.addChain()
        var states = world.users.sessionStates(of: .login(login.id)).makeAsyncIterator()
        await #expect(states.next(isolation: nil) == .established)
        try await world.users.logOut(.login(login.id), revokes: false)
        await #expect(states.next(isolation: nil) == .notLoggedIn)
        await #expect(try world.users.sessionState(of: .login(login.id)) == .notLoggedIn)
    }

    @Test("the handler is called when the token is about to expire or has expired, after 30 days")
    func theHandlerIsAskedBeforeAndAfterExpiry() async throws {
        let handler = RecordingSessionHandler(keeps: true)
        handler.enqueue(RecordingSessionHandler.unable, RecordingSessionHandler.unable)
        let world = try await World()
        world.users.setSessionHandler(handler)
        let month = Duration.seconds(30 * 86_400)
        try await world.addChain(lifetime: month)
        world.time.advance(by: month - .seconds(299))
        for _ in 0..<3 { _ = try await world.users.accessToken(userId: "alice") }
        #expect(handler.asked == 1)
        #expect(handler.last?.isLogIn == false)
        world.time.advance(by: .seconds(700))
        _ = try? await world.users.accessToken(userId: "alice")
        #expect(handler.asked == 2)
        #expect(handler.last?.isLogIn == true)
    }

    @Test("renew(), renewWithAuthToken(), unableToRetrieveAuthToken()", arguments: 0..<3)
    func theHandlerHasThreeAnswers(_ choice: Int) async throws {
        let handler = RecordingSessionHandler()
        let (world, _) = try await Self.makeWorld(handler)
        world.transport.enqueue(.generation("2"))
        world.expire()
        switch choice {
        case 0:
            handler.enqueue(RecordingSessionHandler.consent)
            #expect(try await world.users.accessToken(userId: "alice").name == "2")
        case 1:
            // For a login without a provider, the token of the app's server is the new one.
            let bob = try await world.addPlainLogin(user: "bob")
            world.expire()
            handler.enqueue(RecordingSessionHandler.token("b2", expiresAt: world.now.addingTimeInterval(3_600)))
            #expect(try await world.users.accessToken(for: .login(bob.id)).name == "b2")
            #expect(world.transport.requestCount == 0)
        default:
            handler.enqueue(RecordingSessionHandler.unable)
            #expect(await code { try await world.users.accessToken(userId: "alice") } == .tryLater)
        }
    }

    @Test("re-initiated at a later time, no sooner than 10 minutes", arguments: [false, true])
    func theNextQuestionComesAfterTenMinutes(_ hasScheduler: Bool) async throws {
        let handler = RecordingSessionHandler(RecordingSessionHandler.unable, RecordingSessionHandler.consent)
        let (world, _) = try await Self.makeWorld(handler)
        world.transport.enqueue(.generation("2"))
        world.expire()
        func call() async throws { _ = try? await world.users.accessToken(userId: "alice") }
        try await call()
        if hasScheduler {
            // By itself.
            let start = world.now
            try await world.scheduling { _ in await world.pass(upTo: .seconds(900)) { handler.asked == 2 } }
            #expect((600...661).contains(world.now.timeIntervalSince(start)))
        } else {
            world.time.advance(by: .seconds(599))
            try await call()
            #expect(handler.asked == 1)
            world.time.advance(by: .seconds(62))
            try await call()
        }
        #expect(handler.asked == 2)
    }

    /// A handler that answers nothing has said *not now*; only the first answer counts.
    @Test("you must call one of them")
    func oneAnswerCounts() async throws {
        let silent = RecordingSessionHandler(RecordingSessionHandler.nothing)
        let (world, _) = try await Self.makeWorld(silent)
        world.expire()
        #expect(await code { try await world.users.accessToken(userId: "alice") } == .tryLater)
        #expect(world.transport.requestCount == 0)

        let second = Box<VaultError.Code?>(nil)
        let twice = RecordingSessionHandler { renewal in
            try? await renewal.renew()
            second.value = await errorCode { try await renewal.unableToRetrieveAuthToken() }
        }
        world.users.setSessionHandler(twice)
        world.transport.enqueue(.generation("2"))
        world.time.advance(by: .seconds(1_000))
        #expect(try await world.users.accessToken(userId: "alice").name == "2")
        try await eventually { second.value == .renewalAnswered }
    }
}
