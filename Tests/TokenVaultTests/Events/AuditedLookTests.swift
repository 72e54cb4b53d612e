import EngineSupport
import FoundationEssentials
import OAuthClient
import Synchronization
import TestSupport
import Testing
import TokenVaultTesting
import VaultStorage

@testable import TokenVault

/// An audit row says how its login stands afterwards: exactly what a reader of the login sees then.
@Suite(.tags(.everyEngine))
struct AuditedLookTests {
    private static func lastLook(_ world: World) async throws -> LoginSnapshot? {
        try await world.vault.store.auditEntries(after: 0, limit: 10_000).last { $0.look != nil }?.look
    }

    private static func look(_ login: Login, _ world: World) async throws -> LoginSnapshot {
        let stored = try await world.stored(login)
        return LoginSnapshot(
            position: stored.position, session: stored.session, refresh: stored.refresh, provider: stored.provider,
            at: world.vault.now)
    }

    @Test func eachChangeLeavesTheLookThatIsStored() async throws {
        let world = try await World()
        let login = try await world.addChain()
        func check(isNew: Bool, _ change: () async throws -> Void) async throws {
            try await change()
            var expected = try await Self.look(login, world)
            expected.isNew = isNew
            await #expect(try Self.lastLook(world) == expected)
        }
        try await check(isNew: true) {}
        try await check(isNew: false) {
            world.transport.enqueue(.generation("2"))
            _ = try await world.users.accessToken(for: .login(login.id), .renewed)
        }
        try await check(isNew: false) { try await world.set(login) }
        try await check(isNew: true) { try await world.set(login, lifetime: .seconds(-1)) }
        try await check(isNew: true) { try await world.set(login) }
        try await check(isNew: false) {
            world.transport.enqueue(.status(.serviceUnavailable))
            _ = try? await world.users.accessToken(for: .login(login.id), .renewed)
        }
        world.time.advance(by: .seconds(1_000))
        // A token for a resource moves the chain on, and leaves the login's own.
        try await check(isNew: false) {
            world.transport.enqueue(.generation("resource"))
            _ = try await world.users.accessToken(for: .login(login.id), TokenRequest(resource: "https://api.example/"))
        }
        let look = try await #require(try Self.lastLook(world))
        #expect(look.token?.generation == look.generation - 1)
        try await check(isNew: false) {
            try await world.vault.change(login.id.handle) {
                $0.refresh?.refreshExpiresAt = Timestamp(milliseconds: 1_900_000_000_000)
            }
        }
        try await check(isNew: true) { try await world.kill(login) }
        try await check(isNew: true) { try await world.users.disableUser("alice") }
        try await world.users.logOut(.login(login.id), revokes: false)
        let last = try await #require(try Self.lastLook(world))
        #expect(last.state == nil)
        #expect(last.isNew)
    }

    /// Between two writes a token expires by itself: for the row that comes then, that was so before.
    @Test func anExpiryIsNoNewsOfTheRowAfterIt() async throws {
        let world = try await World()
        let login = try await world.addChain()
        world.expire()
        world.transport.enqueue(.status(.tooManyRequests))
        _ = try? await world.users.accessToken(for: .login(login.id), .renewed)
        let look = try await #require(try Self.lastLook(world))
        #expect(look.state == .tokenExpired)
        #expect(!look.isNew)
    }

    /// Subscribers to all logins learn a new state of one from its row alone.
    @Test func aStateIsReadFromTheRow() async throws {
        let world = try await World()
        let login = try await world.addChain(lifetime: .seconds(100_000))
        world.time.advance(by: .seconds(200_000))
        let watcher = await Watcher(world.vault)
        await #expect(watcher.names() == [])
        try await world.set(login, lifetime: .seconds(100_000))
        await #expect(watcher.names() == ["updated 2", "established 2"])
        try await world.set(login, "again", lifetime: .seconds(100_000))
        await #expect(watcher.names() == ["updated 3"])
        try await world.kill(login)
        await #expect(watcher.names() == ["refreshFailed 3", "tokenExpired(deadGrant) 3"])
        #expect(world.vault.sessions.state.withLock { $0.watched.count } == 0)
        try await world.users.disableUser("alice")
        await #expect(watcher.names() == ["terminated(userDisabled) 4"])
    }

    /// An end that was known when a token came long ago is announced once, however often the login is renewed.
    @Test func theEndOfAGrantIsAnnouncedOnceToSubscribersOfAll() async throws {
        let world = try await World(provider: World.provider(refresh: #"{"absoluteSeconds":8640000}"#))
        let login = try await world.addChain(lifetime: .seconds(300))
        let watcher = await Watcher(world.vault)
        var announced: [String] = []
        // Renewed every hour of the days around the warning, which comes two weeks before the end.
        world.pass(.seconds(85 * 86_400))
        for hour in 0..<48 {
            try await world.set(login, "\(hour)", lifetime: .seconds(300))
            world.pass(.seconds(3_600))
            await announced += watcher.names().filter { $0.hasPrefix("refreshTokenWillExpire") }
        }
        #expect(announced == ["refreshTokenWillExpire 25"])
    }

    /// How long grants last is read once for each provider, and again once the provider has changed.
    @Test func aChangedProviderCountsForTheNextRow() async throws {
        let world = try await World(provider: World.provider(refresh: #"{"absoluteSeconds":8640000}"#))
        let login = try await world.addChain()
        let provider = try await #require(try world.stored(login).provider)
        let watcher = await Watcher(world.vault, login)
        try await world.vault.change(login.id.handle) { $0.session.label = "changed" }
        _ = await watcher.events()
        #expect(world.vault.sessions.state.withLock { $0.lifetimes[provider] } == .limited(.seconds(8_640_000)))
        _ = try await world.vault.store.updateProvider(provider) { record, _ in
            record.defaultScope = "read"
            return []
        }
        _ = await watcher.events()
        #expect(world.vault.sessions.state.withLock { $0.lifetimes[provider] } == nil)
    }

    /// That a provider cannot be read says nothing of its grants.
    @Test func aProviderThatCannotBeReadIsReadAgain() async throws {
        let world = try await World(provider: World.provider(refresh: #"{"absoluteSeconds":8640000}"#))
        let login = try await world.addChain()
        let provider = try await #require(try world.stored(login).provider)
        let watcher = await Watcher(world.vault, login)
        let intruder = try world.temporary.intruder()
        try intruder.execute("UPDATE provider SET revision = revision + 1")
        try await world.vault.change(login.id.handle) { $0.session.label = "first" }
        _ = await watcher.events()
        #expect(world.vault.sessions.state.withLock { $0.lifetimes[provider] } == nil)
        try intruder.execute("UPDATE provider SET revision = revision - 1")
        try await world.vault.change(login.id.handle) { $0.session.label = "second" }
        _ = await watcher.events()
        #expect(
            world.vault.sessions.state.withLock { $0.lifetimes[provider] } == .limited(.seconds(8_640_000)))
    }
}
