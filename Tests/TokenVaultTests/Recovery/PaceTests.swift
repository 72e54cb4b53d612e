import FoundationEssentials
import HTTPTypes
import OAuthClient
import Testing
import TokenVaultTesting
import VaultStorage

@testable import TokenVault

/// Recovery and scheduler go at one pace at each provider, and callers set it.
struct PaceTests {
    private func doubtful(_ count: Int, in world: World) async throws -> [Login] {
        var logins: [Login] = []
        for index in 0..<count {
            let login = try await world.addChain(user: "doubtful-\(index)", name: "d\(index)")
            try await world.leaveIntent(login, owner: IntentRecord.nobody, inDoubt: true)
            logins.append(login)
        }
        return logins
    }

    @Test func recoveryAsksAProviderInTroubleOnceAtATime() async throws {
        let world = try await World()
        _ = try await doubtful(40, in: world)
        world.expire()
        world.transport.fallback = .status(.badGateway)
        _ = try await world.users.recover()
        // Up to eight are under way when the third of them has failed; from then on the provider is left alone.
        let first = world.transport.requestCount
        #expect(first <= Pace.failureLimit + 8)
        for _ in 0..<30 {
            _ = try await world.users.recover()
            world.time.advance(by: .seconds(2))
        }
        // A minute of pauses of 2 s, 4 s, 8 s, 16 s, 32 s: not a request for each login in each pass.
        #expect(world.transport.requestCount - first <= 6)
        world.transport.fallback = .generation("good")
        world.time.advance(by: .seconds(600))
        _ = try await world.users.recover()
        let report = try await world.users.recover()
        #expect(report.openRenewals == 0)
    }

    /// What a caller was told holds recovery, too.
    @Test func retryAfterHoldsRecovery() async throws {
        let world = try await World()
        let login = try await world.addChain()
        let waiting = try await doubtful(3, in: world)
        world.expire()
        world.transport.fallback = .status(.serviceUnavailable, headers: [.retryAfter: "120"])
        _ = try? await world.users.accessToken(for: .login(login.id))
        #expect(world.transport.requestCount == 1)
        _ = try await world.users.recover()
        #expect(world.transport.requestCount == 1)
        world.time.advance(by: .seconds(121))
        world.transport.fallback = .generation("good")
        let report = try await world.users.recover()
        #expect(report.settledRenewals == 3)
        for login in waiting { await #expect(try !world.vault.login(login.id).isInDoubt) }
    }

    @Test func schedulerAndRecoveryShareTheOnePlace() {
        var pace = Pace()
        func fail(_ login: LoginHandle) {
            pace.note(
                .failed(.transient(retryAfter: nil, doubt: nil, isRejection: false)), of: login,
                uptime: .zero, random: 1)
        }
        #expect(pace.bound == nil)
        #expect(pace.begin() && pace.begin())
        for _ in 0..<3 { fail(.random()) }
        #expect(pace.bound == 0)
        #expect(pace.begin() == false)
        pace.end()
        pace.end()
        #expect(pace.bound == 1)
        #expect(pace.begin() == true)
        #expect(pace.begin() == false)
        #expect(pace.hold(uptime: .zero) == .seconds(2))
        pace.note(.renewed, of: .random(), uptime: .zero, random: 1)
        #expect(pace.begin() == true)
    }

    /// The troubles of one login are not its provider's.
    @Test func oneLoginAloneDoesNotSlowItsProviderDown() {
        var pace = Pace()
        let login = LoginHandle.random()
        for _ in 0..<100 {
            pace.note(.failed(.inDoubt(mayReplay: false)), of: login, uptime: .zero, random: 1)
        }
        #expect(pace.bound == nil)
        #expect(pace.hold(uptime: .zero) == nil)
    }
}
