import HTTPTypes
import OAuthClient
import Testing
import TokenVaultTesting
import VaultCrypto
import VaultStorage

@testable import TokenVault

/// Clocks that are set by years, and machines that sleep: neither a storm nor a stall.
struct SchedulerClockTests {
    private static let tenYears = Duration.seconds(10 * 365 * 86_400)

    @Test func tenYearsForwardAndBackRenewEachLoginOnceEachTime() async throws {
        let world = try await World()
        let server = RotatingServer(world)
        let logins = try await world.addChains(50)
        try await world.scheduling { _ in
            await world.pass(upTo: .seconds(60), step: .seconds(10))
            #expect(server.count == 0)
            world.time.setWallClock(forwardBy: Self.tenYears)
            await world.pass(upTo: .seconds(120), step: .seconds(10)) { server.count >= 50 }
            #expect(server.count == 50)
            await world.pass(upTo: .seconds(600), step: .seconds(10))
            #expect(server.count == 50)
            world.time.setWallClock(forwardBy: .zero - Self.tenYears)
            await world.pass(upTo: .seconds(240), step: .seconds(10)) { server.count >= 100 }
            #expect(server.count == 100)
            await world.pass(upTo: .seconds(600), step: .seconds(10))
            #expect(server.count == 100)
            // And time goes on as if nothing had been.
            await world.pass(upTo: .seconds(3_400), step: .seconds(20)) { server.count >= 150 }
            #expect(server.count == 150)
        }
        #expect(Set(server.tokens).count == 150)
        for login in logins { await #expect(try world.users.validAccessToken(for: .login(login)) != nil) }
    }

    @Test func aClockThatGoesToAndFroDoesNotMakeAStorm() async throws {
        let world = try await World()
        let server = RotatingServer(world)
        _ = try await world.addChains(3)
        try await world.scheduling { _ in
            for round in 0..<60 {
                world.time.setWallClock(forwardBy: round.isMultiple(of: 2) ? Self.tenYears : .zero - Self.tenYears)
                await world.pass(upTo: .seconds(2), step: .seconds(1))
            }
        }
        // Two minutes: at most one renewal per login in thirty seconds.
        #expect(server.count <= 3 * 5, "\(server.count) requests")
    }

    @Test func aMachineThatSleptForANightRenewsEachLoginOnce() async throws {
        let world = try await World()
        let server = RotatingServer(world)
        _ = try await world.addChains(20)
        try await world.scheduling { _ in
            await world.settle()
            world.time.advance(by: .seconds(8 * 3_600))
            await world.pass(upTo: .seconds(120)) { server.count >= 20 }
            await world.pass(upTo: .seconds(300), step: .seconds(5))
            #expect(server.count == 20)
        }
    }

    @Test func aTokenDoesNotLookFresherBecauseTheClockWasSetBack() async throws {
        let world = try await World()
        let server = RotatingServer(world)
        try await world.addChain()
        _ = try await world.users.validAccessToken(for: .user("alice"))
        world.vault.checkClock()
        world.time.advance(by: .seconds(3_000))
        world.time.setWallClock(forwardBy: .seconds(-7_200))
        world.vault.checkClock()
        world.time.advance(by: .seconds(400))
        // 3 400 of 3 600 seconds are over, whatever the wall clock says.
        await #expect(try world.users.validAccessToken(for: .user("alice")) == nil)
        _ = try await world.users.accessToken(userId: "alice")
        #expect(server.count == 1)
        await #expect(try world.users.validAccessToken(for: .user("alice")) != nil)
        world.time.advance(by: .seconds(3_000))
        await #expect(try world.users.validAccessToken(for: .user("alice")) != nil)
        world.time.advance(by: .seconds(400))
        await #expect(try world.users.validAccessToken(for: .user("alice")) == nil)
    }

    @Test("a token issued in the future is renewed once, and still serves if the renewal fails")
    func tokenFromTheFutureIsRenewedOnce() async throws {
        // A process that was started after the clock was set back has not seen it.
        let world = try await World()
        try await world.addChain()
        world.time.setWallClock(forwardBy: .seconds(-3_000))
        await #expect(try world.users.validAccessToken(for: .user("alice")) == nil)
        #expect(try await world.users.accessToken(userId: "alice").name == "1")
        world.time.advance(by: .seconds(60))
        let server = RotatingServer(world)
        _ = try await world.users.accessToken(userId: "alice")
        _ = try await world.users.accessToken(userId: "alice")
        #expect(server.count == 1)
    }

    @Test func aPostponementFromTheFutureIsVoid() async throws {
        let world = try await World()
        try await world.addChain()
        world.time.setWallClock(forwardBy: Self.tenYears)
        world.transport.enqueue(.status(.tooManyRequests, headers: [.retryAfter: "3600"]))
        #expect(await code { try await world.users.accessToken(userId: "alice") } != nil)
        world.time.setWallClock(forwardBy: .zero - Self.tenYears)
        world.time.advance(by: .seconds(3_700))
        let server = RotatingServer(world)
        _ = try await world.users.accessToken(userId: "alice")
        #expect(server.count == 1)
    }

    @Test(arguments: [
        // How far the clock went, in seconds, and what is known of it then.
        ([0, 3, -3], 0), ([-60], 60), ([-60, -60], 120), ([-60, 60], 0), ([-60, 30], 30), ([3_600, -3_600], 3_600),
        ([3_600], 0), ([-1, -1, -1, -1, -1, -1, -1], 0),
    ])
    func aClockThatIsSetIsNoticed(steps: [Int], lag: Int) {
        let watch = ClockWatch()
        var wall = Timestamp(milliseconds: 1_800_000_000_000)
        watch.look(now: wall, uptime: .zero)
        for (index, step) in steps.enumerated() {
            wall = wall.advanced(by: .seconds(10 + step))
            watch.look(now: wall, uptime: .seconds(10 * (index + 1)))
        }
        #expect(watch.setBack?.by ?? .zero == .seconds(lag))
    }
}
