import EngineSupport
import FoundationEssentials
import OAuthClient
import TestSupport
import Testing
import TokenVaultTesting

@testable import TokenVault

/// What Twilio's AccessManager says, sentence by sentence: the table in docs/from-other-sdks.md has the same ones.
struct TwilioSentenceTests {
    @Test("provide AccessManager with a copy of a token")
    func theAppGivesACopyOfAToken() async throws {
        let world = try await World()
        try await world.addPlainLogin()
        #expect(try await world.users.accessToken(userId: "alice").name == "1")
        #expect(world.transport.requestCount == 0)
    }

    @Test("in its final three minutes, token will expire is called")
    func willExpireComesThreeMinutesAhead() async throws {
        let world = try await World()
        let watcher = await Watcher(world.vault, try await world.addPlainLogin())
        world.pass(.seconds(3_600 - 181))
        await #expect(watcher.names() == [])
        world.pass(.seconds(1))
        await #expect(watcher.events().map(\.kind) == [.willExpire(at: world.now.addingTimeInterval(180))])
    }

    @Test("if not updated before its expiry, token expired is called")
    func expiredComesAtExpiry() async throws {
        let world = try await World()
        let watcher = await Watcher(world.vault, try await world.addPlainLogin())
        world.pass(.seconds(3_599))
        await #expect(watcher.names() == ["willExpire 1"])
        world.pass(.seconds(1))
        await #expect(watcher.names() == ["expired 1", "tokenExpired 1"])
    }

    @Test("trigger the update you provided and set a timer based on the new token's expire time")
    func anUpdateSetsTheNextTimer() async throws {
        let world = try await World()
        let login = try await world.addPlainLogin()
        let watcher = await Watcher(world.vault, login)
        world.pass(.seconds(3_420))
        for event in await watcher.events() {
            guard case .willExpire = event.kind else { continue }
            try await world.set(login, lifetime: .seconds(7_200))
        }
        await #expect(watcher.names() == ["updated 2"])
        world.pass(.seconds(7_200 - 181))
        await #expect(watcher.names() == [])
        world.pass(.seconds(1))
        await #expect(watcher.names() == ["willExpire 2"])
    }

    @Test("register multiple update blocks")
    func everyObserverHearsOfAnUpdate() async throws {
        let world = try await World()
        let login = try await world.addPlainLogin()
        var watchers: [Watcher] = []
        for _ in 0..<3 { watchers.append(await Watcher(world.vault, .user("alice"))) }
        try await world.set(login)
        for watcher in watchers { await #expect(watcher.names() == ["updated 2"]) }
    }

    /// The event carries no token, so none is copied to observers and their logs. Asked for, it may be a later one.
    @Test("onTokenUpdated(String token)", .tags(.differs))
    func anUpdateNamesTheLoginAndNotTheToken() async throws {
        let world = try await World()
        let login = try await world.addPlainLogin()
        let watcher = await Watcher(world.vault, login)
        try await world.set(login, "2")
        let event = try #require(await watcher.events().first)
        #expect(event.kind == .updated)
        #expect(event.login == login.id)
        var text = ""
        dump(event, to: &text)
        #expect(!text.contains(Sample.marker))
        try await world.set(login, "3")
        #expect(try await world.users.accessToken(for: .login(login.id)).name == "3")
    }

    /// The first token makes a login: its state says so.
    @Test("token updated is called for the token given at first, too", .tags(.differs))
    func theFirstTokenEstablishesTheLogin() async throws {
        let world = try await World()
        let watcher = await Watcher(world.vault, .user("alice"))
        try await world.addPlainLogin()
        await #expect(watcher.names() == ["established 1"])
    }

    @Test("less than three minutes remaining: will expire is called immediately")
    func aShortTokenWarnsAtOnce() async throws {
        let world = try await World()
        let login = try await world.addPlainLogin()
        let watcher = await Watcher(world.vault, login)
        try await world.set(login, lifetime: .seconds(179))
        await #expect(watcher.names() == ["updated 2", "willExpire 2"])
    }

    @Test("already expired: expiring and expired, in that order")
    func anExpiredTokenWarnsAndThenExpires() async throws {
        let world = try await World()
        let login = try await world.addPlainLogin()
        let watcher = await Watcher(world.vault, login)
        try await world.set(login, lifetime: .seconds(-1))
        await #expect(watcher.names() == ["updated 2", "willExpire 2", "expired 2", "tokenExpired 2"])
    }

    @Test("a token error event may surface")
    func anUnusableTokenIsAnError() async throws {
        #expect(throws: OAuthValueError.self) { try AccessToken("two\nlines") }
        let handler = RecordingHandler()
        let world = try await World(handler: handler)
        let watcher = await Watcher(world.vault, try await world.addPlainLogin())
        handler.enqueue(RecordingHandler.token("old", expiresAt: Date(timeIntervalSince1970: 1)))
        world.expire()
        _ = try? await world.users.accessToken(userId: "alice")
        let isTold = await watcher.events().contains { if case .error = $0.kind { true } else { false } }
        #expect(isTold)
    }

    @Test("result not successful: warn the user")
    func anUpdateThatFailsThrowsItsReason() async throws {
        let world = try await World()
        let login = try await world.addPlainLogin()
        try await world.users.disableUser("alice")
        #expect(await code { try await world.set(login) } == .userDisabled)
    }

    @Test("a token lives for at most 24 hours, and its expiry is in it")
    func theExpiryIsReadFromTheToken() async throws {
        let world = try await World()
        let ends = Date(timeIntervalSince1970: (world.now.timeIntervalSince1970 + 86_400).rounded())
        let claims = #"{"exp":\#(Int(ends.timeIntervalSince1970))}"#
        let jwt = [#"{"alg":"none"}"#, claims, "x"].map { Base64URL.encode($0.utf8) }.joined(separator: ".")
        _ = try await world.users.addLogin(userId: "alice", accessToken: AccessToken(jwt))
        #expect(try await world.users.accessToken(userId: "alice").expiresAt == ends)
    }
}
