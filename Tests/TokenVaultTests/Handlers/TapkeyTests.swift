import FoundationEssentials
import OAuthClient
import Testing
import TokenVaultTesting

@testable import TokenVault

/// What is taken from Tapkey, in detail; its sentences are in OtherSDKs.
struct TapkeyTests {
    private func makeWorld() async throws -> (World, RecordingHandler, Login) {
        let handler = RecordingHandler()
        let world = try await World(handler: handler)
        let login = try await world.addPlainLogin()
        return (world, handler, login)
    }

    @Test func handlerIsAskedAtExpiryAndItsTokenIsStored() async throws {
        let (world, handler, login) = try await makeWorld()
        handler.enqueue(RecordingHandler.token("2", expiresAt: world.now.addingTimeInterval(9_000)))
        world.expire()
        #expect(try await world.users.accessToken(userId: "alice").name == "2")
        #expect(handler.asked == ["alice"])
        #expect(try await world.vault.login(login.id).generation == 2)
        #expect(world.transport.requestCount == 0)
    }

    @Test func manyCallersAskTheHandlerOnce() async throws {
        let (world, handler, _) = try await makeWorld()
        let gate = Gate()
        handler.enqueue { _, _ in
            await gate.pass()
            return RefreshedAccessToken(accessToken: Sample.accessToken("2"))
        }
        world.expire()
        try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<200 { group.addTask { try await world.users.accessToken(userId: "alice").name } }
            while handler.asked.isEmpty, !Task.isCancelled { await Task.yield() }
            gate.open()
            for try await name in group { #expect(name == "2") }
        }
        #expect(handler.asked.count == 1)
    }

    /// Both have seen the death before either has told of it: the mark decides, not what they saw.
    @Test func theEndIsToldByOneOfTwoProcessesThatFoundIt() async throws {
        let (world, handler, login) = try await makeWorld()
        handler.enqueue { _, _ in throw RefreshFailedError() }
        world.expire()
        await #expect(throws: VaultError.self) { _ = try await world.users.accessToken(userId: "alice") }
        let other = RecordingHandler()
        let (vault, users) = try await world.anotherProcess(handler: other)
        await users.context.announceFailure(of: login.id.handle)
        await world.users.context.announceFailure(of: login.id.handle)
        #expect(handler.failed == ["alice"])
        #expect(other.failed == [])
        await vault.close()
    }

    @Test func theDefinitiveErrorSetsTheFlagAndTellsOnce() async throws {
        let (world, handler, login) = try await makeWorld()
        handler.enqueue { _, _ in throw RefreshFailedError() }
        world.expire()
        for _ in 0..<5 {
            #expect(await code { try await world.users.accessToken(userId: "alice") } == .refreshFailed)
        }
        #expect(handler.asked.count == 1)
        #expect(handler.failed == ["alice"])
        let stored = try await world.vault.login(login.id)
        #expect(stored.failure?.reason == .refusedByHandler)
        #expect(stored.state == .tokenExpired(stored.failure))
    }

    @Test func theFlagHoldsOverARestartAndInEveryProcess() async throws {
        let (world, handler, login) = try await makeWorld()
        let other = try await world.anotherProcess(handler: handler)
        handler.enqueue { _, _ in throw RefreshFailedError() }
        world.expire()
        #expect(await code { try await world.users.accessToken(userId: "alice") } == .refreshFailed)
        #expect(await code { try await other.users.accessToken(userId: "alice") } == .refreshFailed)
        await world.vault.close()
        await other.vault.close()
        let reopened = try await world.anotherProcess(handler: handler)
        #expect(await code { try await reopened.users.accessToken(for: .login(login.id)) } == .refreshFailed)
        #expect(await code { try await reopened.users.accessToken(for: .login(login.id), .renewed) } == .refreshFailed)
        #expect(handler.asked.count == 1)
        #expect(handler.failed.count == 1)
        #expect(world.transport.requestCount == 0)
    }

    @Test func aNewAccessTokenLiftsTheFlag() async throws {
        let (world, handler, login) = try await makeWorld()
        handler.enqueue({ _, _ in throw RefreshFailedError() }, RecordingHandler.token("3"))
        world.expire()
        _ = try? await world.users.accessToken(userId: "alice")
        let updated = try await world.users.updateAccessToken(
            userId: "alice", accessToken: Sample.accessToken("2"), expiresAt: world.now.addingTimeInterval(3_600))
        #expect(updated.failure == nil)
        #expect(updated.state == .established)
        #expect(try await world.users.accessToken(userId: "alice").name == "2")
        world.expire()
        #expect(try await world.users.accessToken(for: .login(login.id)).name == "3")
        #expect(handler.asked.count == 2)
    }

    /// "… and won't make any calls on behalf of the given user until a new access token is set explicitly."
    @Test func aDeadLoginServesNothingWhereTheAppWantsItSo() async throws {
        let world = try await World()
        let login = try await world.addChain()
        var options = World.options
        options.servesTokensOfDeadLogins = false
        let strict = try await UserManager(vault: world.vault, transport: world.transport, options: options)
        #expect(try await strict.accessToken(userId: "alice").name == "1")
        try await world.kill(login)
        #expect(try await world.users.accessToken(userId: "alice").name == "1")
        #expect(await code { try await strict.accessToken(userId: "alice") } == .refreshFailed)
        await #expect(try strict.validAccessToken(for: .user("alice")) == nil)
        // A renewal that ends the login gives nothing to its own callers either.
        let second = try await world.addChain(user: "bob", name: "b")
        world.transport.enqueue(.error("invalid_grant"))
        let request = TokenRequest(minimumValidity: .seconds(3_600))
        world.time.advance(by: .seconds(600))
        #expect(await code { try await strict.accessToken(for: .login(second.id), request) } == .refreshFailed)
        try await strict.updateAccessToken(userId: "alice", accessToken: Sample.accessToken("2"))
        #expect(try await strict.accessToken(userId: "alice").name == "2")
    }

    @Test func aSecondDeathIsToldAgain() async throws {
        let (world, handler, _) = try await makeWorld()
        handler.enqueue({ _, _ in throw RefreshFailedError() }, { _, _ in throw RefreshFailedError() })
        world.expire()
        _ = try? await world.users.accessToken(userId: "alice")
        try await world.users.updateAccessToken(
            userId: "alice", accessToken: Sample.accessToken("2"), expiresAt: world.now.addingTimeInterval(10))
        world.expire()
        _ = try? await world.users.accessToken(userId: "alice")
        #expect(handler.failed == ["alice", "alice"])
    }

    @Test func anyOtherErrorIsTransient() async throws {
        let (world, handler, login) = try await makeWorld()
        handler.enqueue({ _, _ in throw RecordingHandler.Unprepared() }, RecordingHandler.token("2"))
        world.expire()
        #expect(await code { try await world.users.accessToken(userId: "alice") } == .tryLater)
        #expect(await code { try await world.users.accessToken(userId: "alice") } == .tryLater)
        #expect(handler.asked.count == 1)
        #expect(handler.failed.isEmpty)
        #expect(try await world.vault.login(login.id).failure == nil)
        world.time.advance(by: .seconds(1))
        #expect(try await world.users.accessToken(userId: "alice").name == "2")
    }

    @Test func aTokenThatHasRunOutIsNoToken() async throws {
        let (world, handler, _) = try await makeWorld()
        handler.enqueue(RecordingHandler.token("old", expiresAt: Date(timeIntervalSince1970: 1)))
        world.expire()
        #expect(await code { try await world.users.accessToken(userId: "alice") } == .tryLater)
        #expect(handler.asked.count == 1)
    }

    @Test func theHandlerIsCancelledWhenNobodyWaitsAnyMore() async throws {
        let (world, handler, login) = try await makeWorld()
        handler.enqueue(Self.forever)
        world.expire()
        let caller = Task { try await world.users.accessToken(userId: "alice") }
        while handler.asked.isEmpty, !Task.isCancelled { await Task.yield() }
        caller.cancel()
        await #expect(throws: CancellationError.self) { try await caller.value }
        while handler.cancelled == 0, !Task.isCancelled { await Task.yield() }
        // Asked in vain is not a failure: the next caller is not kept waiting.
        handler.enqueue(RecordingHandler.token("2"))
        #expect(try await world.users.accessToken(for: .login(login.id)).name == "2")
    }

    @Test func theHandlerIsCancelledWhenTheAppSetsAToken() async throws {
        let (world, handler, _) = try await makeWorld()
        handler.enqueue(Self.forever)
        world.expire()
        let caller = Task { try await world.users.accessToken(userId: "alice").name }
        while handler.asked.isEmpty, !Task.isCancelled { await Task.yield() }
        try await world.users.updateAccessToken(
            userId: "alice", accessToken: Sample.accessToken("2"), expiresAt: world.now.addingTimeInterval(3_600))
        #expect(try await caller.value == "2")
        while handler.cancelled == 0, !Task.isCancelled { await Task.yield() }
    }

    @Test func theHandlerIsCancelledByLogOut() async throws {
        let (world, handler, login) = try await makeWorld()
        handler.enqueue(Self.forever)
        world.expire()
        let caller = Task { try await world.users.accessToken(userId: "alice").name }
        while handler.asked.isEmpty, !Task.isCancelled { await Task.yield() }
        try await world.users.logOut(.login(login.id))
        #expect(await code { try await caller.value } == .unknownLogin)
        while handler.cancelled == 0, !Task.isCancelled { await Task.yield() }
    }

    @Test func withoutAHandlerTheLoginIsNotRefreshable() async throws {
        let world = try await World()
        try await world.addPlainLogin()
        world.expire()
        #expect(await code { try await world.users.accessToken(userId: "alice") } == .notRefreshable)
    }

    @Test func theDeathOfAChainIsToldToo() async throws {
        let handler = RecordingHandler()
        let world = try await World(handler: handler)
        try await world.addChain()
        world.transport.enqueue(.error("invalid_grant"))
        world.expire()
        #expect(await code { try await world.users.accessToken(userId: "alice") } == .refreshFailed)
        #expect(await code { try await world.users.accessToken(userId: "alice") } == .refreshFailed)
        #expect(handler.failed == ["alice"])
        #expect(world.transport.requestCount == 1)
    }

    @Test func deathIsReportedByTheNextProcessWithAHandler() async throws {
        let world = try await World()
        try await world.addChain()
        world.transport.enqueue(.error("invalid_grant"))
        world.expire()
        #expect(await code { try await world.users.accessToken(userId: "alice") } == .refreshFailed)
        await world.vault.close()
        let handler = RecordingHandler()
        let next = try await world.anotherProcess(handler: handler)
        #expect(await code { try await next.users.accessToken(userId: "alice") } == .refreshFailed)
        // Told in the background: by the pass that every process begins with, or because of the call.
        while handler.failed.isEmpty, !Task.isCancelled { await Task.yield() }
        await next.vault.close()
        #expect(handler.failed == ["alice"])
        #expect(world.transport.requestCount == 1)
    }

    @Test func aNewAccessTokenEndsABackoff() async throws {
        let (world, handler, login) = try await makeWorld()
        handler.enqueue({ _, _ in throw RecordingHandler.Unprepared() }, RecordingHandler.token("3"))
        world.expire()
        #expect(await code { try await world.users.accessToken(userId: "alice") } == .tryLater)
        try await world.users.updateAccessToken(
            for: .login(login.id), accessToken: Sample.accessToken("2"), expiresAt: world.now)
        await #expect(try world.vault.login(login.id).notBefore == nil)
        #expect(try await world.users.accessToken(userId: "alice").name == "3")
    }

    @Test(arguments: [false, true])
    func aHandlerThatHangsIsGivenUpWhetherItListensOrNot(_ listens: Bool) async throws {
        let (world, handler, _) = try await makeWorld()
        let gate = Gate()
        handler.enqueue { _, _ in
            if listens { try await world.time.sleep(for: .seconds(600)) } else { await gate.pass() }
            return RefreshedAccessToken(accessToken: Sample.accessToken("late"))
        }
        world.expire()
        let outcome = await world.withTimePassing { await code { try await world.users.accessToken(userId: "alice") } }
        #expect(outcome == .tryLater)
        gate.open()
        // What comes after all is not heard.
        handler.enqueue(RecordingHandler.token("2"))
        world.time.advance(by: .seconds(1))
        #expect(try await world.users.accessToken(userId: "alice").name == "2")
    }

    @Test func aHandlerThatDoesNotListenKeepsNobodyFromANewToken() async throws {
        let (world, handler, _) = try await makeWorld()
        let gate = Gate()
        handler.enqueue { _, _ in
            await gate.pass()
            return RefreshedAccessToken(accessToken: Sample.accessToken("late"))
        }
        world.expire()
        let caller = Task { try await world.users.accessToken(userId: "alice").name }
        while handler.asked.isEmpty, !Task.isCancelled { await Task.yield() }
        try await world.users.updateAccessToken(
            userId: "alice", accessToken: Sample.accessToken("2"), expiresAt: world.now.addingTimeInterval(3_600))
        #expect(try await caller.value == "2")
        gate.open()
        #expect(try await world.users.accessToken(userId: "alice").name == "2")
    }

    @Test func theSameTokenIsNoNewOneUnlessItLastsLonger() async throws {
        let (world, handler, login) = try await makeWorld()
        handler.enqueue(
            RecordingHandler.token("1", expiresAt: world.now.addingTimeInterval(3_600)),
            RecordingHandler.token("1", expiresAt: world.now.addingTimeInterval(9_000)))
        world.time.advance(by: .seconds(3_500))
        #expect(try await world.users.accessToken(userId: "alice").name == "1")
        #expect(try await world.users.accessToken(userId: "alice").name == "1")
        #expect(handler.asked.count == 1)
        #expect(try await world.vault.login(login.id).generation == 1)
        world.time.advance(by: .seconds(50))
        #expect(try await world.users.accessToken(userId: "alice").name == "1")
        #expect(try await world.vault.login(login.id).generation == 2)
    }

    @Test func theRefusedTokenAgainIsNoNewOne() async throws {
        let (world, handler, _) = try await makeWorld()
        let token = try await world.users.accessToken(userId: "alice")
        handler.enqueue(RecordingHandler.token("1", expiresAt: world.now.addingTimeInterval(9_000)))
        #expect(await code { try await world.users.reportRejected(token) } == .tryLater)
        #expect(await code { try await world.users.accessToken(userId: "alice") } == .tryLater)
        #expect(handler.asked.count == 1)
    }

    @Test func aVaultCanBeClosedWhileTheHandlerHangs() async throws {
        let (world, handler, _) = try await makeWorld()
        let gate = Gate()
        handler.enqueue { _, _ in
            await gate.pass()
            throw RefreshFailedError()
        }
        world.expire()
        let caller = Task { await code { try await world.users.accessToken(userId: "alice") } }
        while handler.asked.isEmpty, !Task.isCancelled { await Task.yield() }
        await world.vault.close()
        #expect(await caller.value != nil)
        gate.open()
        let next = try await world.anotherProcess(handler: handler)
        handler.enqueue(RecordingHandler.token("2"))
        #expect(try await next.users.accessToken(userId: "alice").name == "2")
        #expect(handler.failed.isEmpty)
    }

    @Test func hangingFailureHandlerDelaysNoCaller() async throws {
        let handler = HangingHandler()
        let world = try await World()
        try await world.addPlainLogin()
        let users = try await UserManager(
            vault: world.vault, transport: world.transport, refreshHandler: handler, options: World.options)
        world.expire()
        let outcome = await world.withTimePassing { await code { try await users.accessToken(userId: "alice") } }
        #expect(outcome == .refreshFailed)
        handler.gate.open()
    }

    @Test func aHandlerThatAsksForWhatItIsRenewingGetsAnError() async throws {
        let (world, handler, _) = try await makeWorld()
        let users = world.users
        handler.enqueue { userId, _ in
            _ = try await users.accessToken(userId: userId)
            return RefreshedAccessToken(accessToken: Sample.accessToken("never"))
        }
        world.expire()
        #expect(await code { try await world.users.accessToken(userId: "alice") } == .tryLater)
    }

    private static let forever: RecordingHandler.Answer = { _, _ in
        try await ContinuousClock().sleep(for: .seconds(60))
        return RefreshedAccessToken(accessToken: Sample.accessToken("late"))
    }
}

/// Says that it is over, and is stuck when it is told so.
private final class HangingHandler: TokenRefreshHandler {
    let gate = Gate()

    func refreshAuthentication(userId: String, login: LoginID) async throws -> RefreshedAccessToken {
        throw RefreshFailedError()
    }

    func onRefreshFailed(userId: String, login: LoginID) async {
        await gate.pass()
    }
}
