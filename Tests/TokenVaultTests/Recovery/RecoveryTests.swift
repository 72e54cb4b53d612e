import EngineSupport
import FoundationEssentials
import HTTPTypes
import OAuthClient
import Synchronization
import Testing
import TokenVaultTesting
import VaultStorage

@testable import TokenVault

/// What processes that ended have left open, and doubts whose time has come.
@Suite(.tags(.everyEngine))
struct RecoveryTests {
    /// Answers every refresh with tokens that are named after the one that was spent.
    private static let echo = ScriptedReply { request throws(HTTPTransportError) in
        let spent = request.form["refresh_token"].map { $0.dropFirst((Sample.marker + "refresh-").count) } ?? "?"
        return try await ScriptedReply.generation(spent + "+").reply(to: request)
    }

    private func chains(_ count: Int, _ world: World) async throws -> [Login] {
        var logins: [Login] = []
        for index in 0..<count { logins.append(try await world.addChain(user: "user\(index)", name: "\(index)")) }
        return logins
    }

    private func spent(_ world: World) -> [String] {
        world.transport.requests.compactMap { $0.form["refresh_token"] }
    }

    @Test(arguments: [false, true])
    func abandonedIntentIsSettledWithoutACaller(isOwn: Bool) async throws {
        let world = try await World()
        let login = try await world.addChain()
        try await world.leaveIntent(login, owner: isOwn ? world.vault.store.owner : world.goneOwner)
        world.transport.enqueue(.generation("2"))
        let report = try await world.users.recover()
        #expect(report == RecoveryReport(restoredReplies: 0, settledRenewals: 1, openRenewals: 0))
        #expect(try await world.vault.login(login.id).generation == 2)
        await #expect(try world.stored(login).intent == nil)
        #expect(world.transport.requestCount == 1)
        #expect(try await world.users.recover().settledRenewals == 0)
        #expect(world.transport.requestCount == 1)
    }

    @Test func aStrictServersRefusalSettlesItToo() async throws {
        let world = try await World()
        let login = try await world.addChain()
        try await world.leaveIntent(login)
        world.transport.enqueue(.error("invalid_grant"))
        #expect(try await world.users.recover().settledRenewals == 1)
        #expect(try await world.vault.login(login.id).failure?.reason == .lostResponse)
        await #expect(try world.stored(login).intent == nil)
    }

    @Test func aLivingOwnerIsLeftAlone() async throws {
        let world = try await World()
        let login = try await world.addChain()
        let other = try await world.anotherProcess()
        try await world.leaveIntent(login, owner: other.vault.store.owner)
        #expect(
            try await world.users.recover() == RecoveryReport(restoredReplies: 0, settledRenewals: 0, openRenewals: 0))
        #expect(world.transport.requestCount == 0)
        await #expect(try world.stored(login).intent?.owner == other.vault.store.owner)
        await other.vault.close()
    }

    @Test func theWorkIsSharedAndNothingIsDoneTwice() async throws {
        let world = try await World()
        let logins = try await chains(24, world)
        for login in logins { try await world.leaveIntent(login) }
        world.transport.fallback = Self.echo
        let second = try await UserManager(vault: world.vault, transport: world.transport, options: World.options)
        let third = try await world.anotherProcess()
        await withThrowingTaskGroup(of: Void.self) { group in
            for users in [world.users, second, third.users] {
                group.addTask { _ = try await users.recover() }
            }
        }
        #expect(spent(world).count == 24)
        #expect(Set(spent(world)).count == 24)
        for login in logins { #expect(try await world.vault.login(login.id).generation == 2) }
        await third.vault.close()
    }

    @Test func theOldestAreSettledFirstAndEightAtATime() async throws {
        let world = try await World()
        let logins = try await chains(12, world)
        // Older than they were made.
        for index in (0..<12).reversed() {
            try await world.leaveIntent(logins[index])
            world.time.advance(by: .seconds(1))
        }
        let gate = Gate()
        world.transport.fallback = Self.echo.behind(gate)
        let pass = Task { try await world.users.recover() }
        await world.transport.waitForRequests(8)
        for _ in 0..<1_000 { await Task.yield() }
        #expect(Set(spent(world)) == Set((4..<12).map { "CANARY-refresh-\($0)" }))
        gate.open()
        #expect(try await pass.value.settledRenewals == 12)
        #expect(world.transport.requestCount == 12)
    }

    private enum Obstacle: String, CaseIterable {
        case dead, needsUser, terminated, postponed, breaker, forbidden
    }

    @Test func nothingIsSentWhereNothingMayBeSent() async throws {
        for obstacle in Obstacle.allCases {
            let world = try await World(
                provider: obstacle == .forbidden
                    ? World.provider(refresh: #"{"rotation":"always","replay":"never"}"#) : nil)
            let login = try await world.addChain()
            if obstacle == .breaker {
                let other = try await world.addChain(user: "bob", name: "b")
                world.transport.enqueue(.error("invalid_client", status: .unauthorized))
                _ = try? await world.users.accessToken(for: .login(other.id), .renewed)
            }
            let sent = world.transport.requestCount
            try await world.leaveIntent(login)
            let now = world.vault.now
            try await world.vault.store.updateLogin(login.id.handle) { state in
                switch obstacle {
                case .dead: state.session.failure = FailureRecord(reason: 1, at: now)
                case .needsUser: state.session.failure = FailureRecord(reason: FailureRecord.needsUserCode, at: now)
                case .terminated: state.session.state = .terminated
                case .postponed: state.session.notBefore = now.advanced(by: .seconds(30))
                case .breaker, .forbidden: break
                }
            }
            world.transport.fallback = .generation("2")
            for _ in 0..<3 { try await world.users.recover() }
            #expect(world.transport.requestCount == sent, "\(obstacle)")
        }
    }

    @Test func aDoubtThatIsPostponedIsSettledWhenItsTimeComes() async throws {
        let world = try await World()
        let login = try await world.addChain()
        world.transport.enqueue(.failure(.maybeSent, .timeout), .failure(.maybeSent, .reset))
        world.expire()
        await world.withTimePassing { _ = try? await world.users.accessToken(for: .login(login.id)) }
        world.transport.fallback = .generation("2")
        #expect(try await world.users.recover().openRenewals == 1)
        #expect(world.transport.requestCount == 2)
        world.time.advance(by: .seconds(1))
        #expect(try await world.users.recover().settledRenewals == 1)
        #expect(try await world.vault.login(login.id).generation == 2)
    }

    @Test func aForbiddenReplayEndsWithTheAccessToken() async throws {
        let world = try await World(provider: World.provider(refresh: #"{"rotation":"always","replay":"never"}"#))
        let login = try await world.addChain()
        try await world.leaveIntent(login)
        #expect(try await world.users.recover().openRenewals == 1)
        world.expire()
        #expect(try await world.users.recover().settledRenewals == 1)
        #expect(try await world.vault.login(login.id).failure?.reason == .lostResponse)
        #expect(world.transport.requestCount == 0)
    }

    @Test func anIntentThatCanHaveSpentNothingGoesWithoutAWord() async throws {
        let handler = RecordingHandler()
        let world = try await World(handler: handler)
        let login = try await world.addPlainLogin()
        try await world.leaveIntent(login)
        #expect(try await world.users.recover().settledRenewals == 1)
        #expect(handler.asked.isEmpty)
        await #expect(try world.stored(login).intent == nil)
    }

    @Test func aManagerRecoversWhenItIsMadeAndEveryTwoSeconds() async throws {
        let world = try await World()
        let logins = try await chains(2, world)
        world.transport.fallback = Self.echo
        try await world.leaveIntent(logins[0])
        var options = World.options
        options.recoveryInterval = .seconds(2)
        let users = try await UserManager(vault: world.vault, transport: world.transport, options: options)
        await world.time.waitForSleepers()
        #expect(try await world.vault.login(logins[0].id).generation == 2)
        try await world.leaveIntent(logins[1])
        world.time.advance(by: .seconds(2))
        while try await world.vault.login(logins[1].id).generation == 1, !Task.isCancelled { await Task.yield() }
        await world.time.waitForSleepers()
        await users.vault.close()
        while world.time.sleeperCount > 0, !Task.isCancelled { await Task.yield() }
    }

    @Test func recoveryEndsWithItsManager() async throws {
        let world = try await World()
        var options = World.options
        options.recoveryInterval = .seconds(2)
        var users: UserManager? = try await UserManager(
            vault: world.vault, transport: world.transport, options: options)
        await world.time.waitForSleepers()
        weak let engine = users?.engine
        users = nil
        while world.time.sleeperCount > 0, !Task.isCancelled { await Task.yield() }
        while engine != nil, !Task.isCancelled { await Task.yield() }
    }
}
