import EngineSupport
import FoundationEssentials
import OAuthClient
import TestSupport
import Testing
import TokenVault
import TokenVaultTesting

/// What Tapkey's SDK says, sentence by sentence: the table in docs/from-other-sdks.md has the same ones.
struct TapkeySentenceTests {
    @Test("pass the handler before the first user logs in")
    func theHandlerIsThereBeforeAnyUser() async throws {
        let handler = RecordingHandler()
        let world = try await World(handler: handler)
        await #expect(try world.users.sessionState(of: .user("alice")) == .notLoggedIn)
        try await world.addPlainLogin()
        handler.enqueue(RecordingHandler.token("2"))
        world.expire()
        #expect(try await world.users.accessToken(userId: "alice").name == "2")
    }

    @Test("called whenever the token needs to be refreshed")
    func theHandlerIsAskedWhereThereIsNoRefreshToken() async throws {
        let handler = RecordingHandler()
        let world = try await World(handler: handler)
        try await world.addPlainLogin()
        try await world.addChain(user: "bob")
        world.transport.enqueue(.generation("b2"))
        for name in ["2", "3"] {
            handler.enqueue(RecordingHandler.token(name, expiresAt: world.now.addingTimeInterval(7_200)))
            world.expire()
            #expect(try await world.users.accessToken(userId: "alice").name == name)
            world.expire()
        }
        // The vault renews the others by itself.
        #expect(try await world.users.accessToken(userId: "bob").name == "b2")
        #expect(handler.asked == ["alice", "alice"])
    }

    @Test("throws: onRefreshFailed, and no call on behalf of the user until a new access token is set")
    func aDeadLoginIsQuietUntilATokenIsSet() async throws {
        let handler = RecordingHandler()
        let world = try await World(handler: handler)
        var options = World.options
        options.servesTokensOfDeadLogins = false
        let users = try await UserManager(
            vault: world.vault, transport: world.transport, refreshHandler: handler, options: options)
        try await world.addPlainLogin()
        // The token is good for another minute, and is not given out either.
        handler.enqueue { _, _ in throw RefreshFailedError() }
        world.time.advance(by: .seconds(3_540))
        for _ in 0..<5 {
            #expect(await code { try await users.accessToken(userId: "alice") } == .refreshFailed)
            world.expire()
        }
        #expect(handler.asked == ["alice"])
        #expect(handler.failed == ["alice"])
        try await users.updateAccessToken(
            userId: "alice", accessToken: Sample.accessToken("2"), expiresAt: world.now.addingTimeInterval(3_600))
        #expect(try await users.accessToken(userId: "alice").name == "2")
        handler.enqueue(RecordingHandler.token("3"))
        world.expire()
        #expect(try await users.accessToken(userId: "alice").name == "3")
    }

    /// Only `RefreshFailedError` means that. Anything else may be an outage of the app's own server.
    @Test("any error means that the refresh has failed", .tags(.differs))
    func anotherErrorIsABackoff() async throws {
        struct Outage: Error {}
        let handler = RecordingHandler()
        let world = try await World(handler: handler)
        let login = try await world.addPlainLogin()
        handler.enqueue { _, _ in throw Outage() }
        world.expire()
        #expect(await code { try await world.users.accessToken(userId: "alice") } == .tryLater)
        #expect(handler.failed == [])
        #expect(try await world.vault.login(login.id).failure == nil)
        handler.enqueue(RecordingHandler.token("2"))
        world.time.advance(by: .seconds(300))
        #expect(try await world.users.accessToken(userId: "alice").name == "2")
    }

    /// For a login that exists: `addLogin`, or a log-in, makes the user.
    @Test("updateAccessToken(userId, accessToken)", .tags(.differs))
    func anUpdateNeedsALogin() async throws {
        let world = try await World()
        func update() async throws {
            try await world.users.updateAccessToken(userId: "alice", accessToken: Sample.accessToken("2"))
        }
        #expect(await code { try await update() } == .unknownUser)
        try await world.addPlainLogin()
        try await update()
        #expect(try await world.users.accessToken(userId: "alice").name == "2")
    }

    @Test("a cancellationToken says that the result is of no use any more")
    func theHandlersTaskIsCancelled() async throws {
        let handler = RecordingHandler()
        let world = try await World(handler: handler)
        let login = try await world.addPlainLogin()
        handler.enqueue { _, _ in
            try await world.time.sleep(for: .seconds(1_000_000))
            throw RefreshFailedError()
        }
        world.expire()
        let caller = Task { try await world.users.accessToken(userId: "alice") }
        try await eventually { !handler.asked.isEmpty }
        try await world.users.logOut(.login(login.id))
        #expect(await code { try await caller.value } == .unknownLogin)
        try await eventually { handler.cancelled == 1 }
    }

    @Test("returns the new token")
    func theHandlerReturnsTheTokenAndItsExpiry() async throws {
        let handler = RecordingHandler()
        let world = try await World(handler: handler)
        try await world.addPlainLogin()
        world.expire()
        let ends = world.now.addingTimeInterval(7_200)
        handler.enqueue(RecordingHandler.token("2", expiresAt: ends))
        let token = try await world.users.accessToken(userId: "alice")
        #expect(token.name == "2")
        #expect(token.expiresAt == ends)
    }
}
