import EngineSupport
import Testing
import TokenVaultTesting

@testable import TokenVault

/// User ids are bytes: what looks the same, and what Swift calls equal, may be two users.
@Suite(.tags(.everyEngine))
struct UserKeyTests {
    private static let composed = "caf\u{E9}"
    private static let decomposed = "cafe\u{301}"

    @Test func swiftTakesThemForOne() {
        #expect(Self.composed == Self.decomposed)
        #expect(UserKey(Self.composed) != UserKey(Self.decomposed))
    }

    @Test(arguments: [(composed, decomposed), (decomposed, composed)])
    func aWatcherHearsOfTheUserWhomItNamed(watched: String, other: String) async throws {
        let world = try await World()
        let watcher = await Watcher(world.vault, .user(watched))
        // Both come after the subscription: the second must not take the first one's place.
        let login = try await world.addChain(user: watched, name: "1")
        await #expect(watcher.names() == ["established 1"])
        let stranger = try await world.addChain(user: other, name: "2")
        await #expect(watcher.events().allSatisfy { $0.login == login.id })
        try await world.set(stranger, "3")
        await #expect(watcher.names() == [])
        try await world.set(login, "4")
        await #expect(watcher.names() == ["updated 2"])
    }

    @Test(arguments: [(composed, decomposed), (decomposed, composed)])
    func nobodySeesAnothersLogIn(watched: String, other: String) async throws {
        let world = try await World()
        let watcher = await StateWatcher(world.vault, .user(watched))
        await #expect(watcher.states() == [.notLoggedIn])
        await world.vault.sessions.logInBegins(of: other)
        await #expect(watcher.states() == [])
        #expect(!world.vault.sessions.isLoggingIn(watched))
        #expect(world.vault.sessions.isLoggingIn(other))
        await world.vault.sessions.logInBegins(of: watched)
        await #expect(watcher.states() == [.establishing])
        world.vault.sessions.logInEnds(of: other)
        await #expect(watcher.states() == [])
    }

    @Test func eachHasLoginsOfHisOwn() async throws {
        let world = try await World()
        let one = try await world.addChain(user: Self.composed, name: "1")
        let two = try await world.addChain(user: Self.decomposed, name: "2")
        #expect(try await world.users.accessToken(userId: Self.composed).login == one.id)
        #expect(try await world.users.accessToken(userId: Self.decomposed).login == two.id)
        #expect(try await world.vault.userPage().entries.count == 2)
    }
}
