import FoundationEssentials
import Synchronization
import Testing
import TokenVaultTesting
import VaultStorage

@testable import TokenVault

/// The clock is set by ten years, either way: neither a storm nor a stall.
struct EventClockTests {
    private static let tenYears = Duration.seconds(3_650 * 86_400)

    @Test func forwardAndBackTellsEachTokenOnce() async throws {
        let world = try await World()
        let login = try await world.addChain()
        let (watcher, states) = (await Watcher(world.vault, login), await StateWatcher(world.vault, login))
        world.time.setWallClock(forwardBy: Self.tenYears)
        await #expect(watcher.names() == ["willExpire 1", "expired 1", "tokenExpired 1"])
        world.time.setWallClock(forwardBy: .zero - Self.tenYears)
        // The token is good again, and the app hears it; its end is not told twice.
        await #expect(watcher.names() == ["established 1"])
        await #expect(try world.users.sessionState(of: .login(login.id)) == .established)
        world.time.advance(by: .seconds(3_600))
        await #expect(watcher.names() == ["tokenExpired 1"])
        await #expect(states.states() == [.established, .tokenExpired(nil), .established, .tokenExpired(nil)])
        try await world.set(login)
        await #expect(watcher.names() == ["updated 2", "established 2"])
    }

    @Test func aClockThatWasSetBackStallsNothing() async throws {
        let world = try await World()
        let login = try await world.addChain(lifetime: .seconds(600))
        let (watcher, all) = (await Watcher(world.vault, login), await Watcher(world.vault))
        world.time.setWallClock(forwardBy: .zero - Self.tenYears)
        await #expect(watcher.names() == [])
        await #expect(all.names() == [])
        // Set by the wrong clock, and told by it.
        try await world.set(login, lifetime: .seconds(600))
        world.time.advance(by: .seconds(420))
        await #expect(watcher.names() == ["updated 2", "willExpire 2"])
        await #expect(all.names() == ["updated 2", "willExpire 2"])
        world.time.setWallClock(forwardBy: Self.tenYears)
        await #expect(watcher.names() == ["expired 2", "tokenExpired 2"])
        await #expect(all.names() == ["expired 2", "tokenExpired 2"])
    }

    @Test func theFeedNeverSpins() async throws {
        let world = try await World()
        let login = try await world.addChain()
        let watcher = await Watcher(world.vault, login)
        for jump in [Self.tenYears, .zero - Self.tenYears, .zero - Self.tenYears, Self.tenYears] {
            world.time.setWallClock(forwardBy: jump)
            _ = await watcher.events()
            let epoch = world.vault.sessions.state.withLock { $0.epoch }
            let pause = try #require(await world.vault.sessions.step(epoch))
            #expect(pause >= .milliseconds(1) && pause <= .seconds(1))
        }
    }
}
