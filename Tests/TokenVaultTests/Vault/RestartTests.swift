import EngineSupport
import FoundationEssentials
import HTTPTypes
import OAuthClient
import Testing
import TokenVaultTesting
import VaultAdministration
import VaultCrypto
import VaultStorage

@testable import TokenVault

/// Processes that die, stall and come back.
@Suite(.tags(.everyEngine))
struct RestartTests {
    /// What a killed process leaves: it writes nothing more, and nobody holds the lock that its intent names.
    private func kill(_ victim: Vault, _ login: Login, _ world: World) async throws {
        victim.store.close()
        let gone = world.goneOwner
        try await world.vault.store.updateLogin(login.id.handle) { $0.intent?.owner = gone }
    }

    @Test func everythingIsThereAfterARestart() async throws {
        let world = try await World()
        let chain = try await world.addChain(dpopKey: .generate())
        try await world.users.updateAccessToken(
            for: .login(try await world.addPlainLogin(user: "bob").id), accessToken: Sample.accessToken("b2"),
            expiresAt: nil)
        let before = try await world.vault.login(chain.id)
        await world.vault.close()
        let next = try await world.anotherProcess()
        #expect(try await next.vault.login(chain.id) == before)
        #expect(try await next.users.accessToken(userId: "alice").name == "1")
        #expect(try await next.users.accessToken(userId: "bob").name == "b2")
        #expect(world.transport.requestCount == 0)
    }

    @Test func aDeadChainStaysDeadOverARestartWithoutARequest() async throws {
        let world = try await World()
        let login = try await world.addChain()
        world.transport.enqueue(.error("invalid_grant"))
        world.expire()
        _ = try? await world.users.accessToken(userId: "alice")
        await world.vault.close()
        let next = try await world.anotherProcess()
        for _ in 0..<10 {
            #expect(await code { try await next.users.accessToken(for: .login(login.id)) } == .refreshFailed)
            #expect(await code { try await next.users.accessToken(for: .login(login.id), .renewed) } == .refreshFailed)
            world.expire()
        }
        #expect(world.transport.requestCount == 1)
    }

    @Test func aBackoffHoldsInEveryProcess() async throws {
        let world = try await World()
        try await world.addChain()
        world.transport.enqueue(.status(.tooManyRequests, headers: [.retryAfter: "100"]))
        world.expire()
        _ = try? await world.users.accessToken(userId: "alice")
        let other = try await world.anotherProcess()
        #expect(await code { try await other.users.accessToken(userId: "alice") } == .tryLater)
        #expect(world.transport.requestCount == 1)
        await other.vault.close()
    }

    @Test func theRenewalOfAKilledProcessIsTakenOverInDoubtAtOnce() async throws {
        let world = try await World()
        let login = try await world.addChain()
        let victim = try await world.anotherProcess()
        let gate = Gate()
        world.transport.enqueue(.generation("lost").behind(gate), .generation("2"))
        world.expire()
        let abandoned = Task { try? await victim.users.accessToken(for: .login(login.id)) }
        await world.transport.waitForRequests(1)
        try await kill(victim.vault, login, world)
        // No time passes: death is seen, not waited for.
        #expect(try await world.users.accessToken(for: .login(login.id)).name == "2")
        #expect(world.transport.requests.map { $0.form["refresh_token"] } == ["CANARY-refresh-1", "CANARY-refresh-1"])
        gate.open()
        _ = await abandoned.value
        #expect(try await world.vault.login(login.id).generation == 2)
    }

    @Test func afterAKillInvalidGrantIsALostResponse() async throws {
        let world = try await World()
        let login = try await world.addChain()
        let victim = try await world.anotherProcess()
        let gate = Gate()
        world.transport.enqueue(.generation("lost").behind(gate), .error("invalid_grant"))
        world.expire()
        let abandoned = Task { try? await victim.users.accessToken(for: .login(login.id)) }
        await world.transport.waitForRequests(1)
        try await kill(victim.vault, login, world)
        #expect(await code { try await world.users.accessToken(for: .login(login.id)) } == .lostResponse)
        gate.open()
        _ = await abandoned.value
    }

    @Test func aStalledOwnerIsWaitedForAndNeverRobbed() async throws {
        let world = try await World()
        let login = try await world.addChain()
        let stalled = try await world.anotherProcess()
        let gate = Gate()
        world.transport.enqueue(.generation("2").behind(gate))
        world.expire()
        let owner = Task { try await stalled.users.accessToken(for: .login(login.id)).name }
        await world.transport.waitForRequests(1)
        await world.withTimePassing {
            #expect(
                await code {
                    try await world.users.accessToken(for: .login(login.id), TokenRequest(deadline: .seconds(3)))
                }
                    == .deadlineExceeded)
            #expect(await code { try await world.users.accessToken(for: .login(login.id)) } == .refreshStalled)
        }
        #expect(world.transport.requestCount == 1)
        gate.open()
        #expect(try await owner.value == "2")
        #expect(try await world.users.accessToken(for: .login(login.id)).name == "2")
        await stalled.vault.close()
    }

    @Test func aRevocationThatIsNotConfirmedOutlivesARestart() async throws {
        let world = try await World()
        let login = try await world.addChain()
        world.transport.enqueue(.failure(.notSent, .connect))
        #expect(try await !world.users.logOut(.login(login.id)).isComplete)
        await world.vault.close()
        let next = try await world.anotherProcess()
        #expect(try await next.vault.status().pendingRevocations == 1)
    }

    @Test func aLateReplyOfTheSameChainIsKeptAndNotRevoked() async throws {
        let world = try await World()
        let login = try await world.addChain()
        let victim = try await world.anotherProcess()
        let gate = Gate()
        world.transport.enqueue(.generation("late").behind(gate), .generation("2"))
        world.expire()
        let late = Task { try await victim.users.accessToken(for: .login(login.id)).name }
        await world.transport.waitForRequests(1)
        // A host that closes descriptors looks dead although it lives: its intent is taken over.
        try await world.vault.store.updateLogin(login.id.handle) { $0.intent?.owner = IntentRecord.nobody }
        #expect(try await world.users.accessToken(for: .login(login.id)).name == "2")
        gate.open()
        #expect(try await late.value == "2")
        let stored = try await world.vault.store.login(login.id.handle)
        #expect(stored.refresh?.refreshToken?.string() == "CANARY-refresh-2")
        #expect(stored.refresh?.previousRefresh?.string() == "CANARY-refresh-late")
        #expect(world.transport.requestCount == 2)
    }

    @Test func aLateReplyDoesNotEndTheAttemptThatTookOver() async throws {
        let world = try await World()
        let login = try await world.addChain()
        let victim = try await world.anotherProcess()
        let (first, second) = (Gate(), Gate())
        world.transport.enqueue(.generation("late").behind(first), .generation("2").behind(second))
        world.expire()
        let late = Task { try await victim.users.accessToken(for: .login(login.id)).name }
        await world.transport.waitForRequests(1)
        try await world.vault.store.updateLogin(login.id.handle) { $0.intent?.owner = IntentRecord.nobody }
        let heir = Task { try await world.users.accessToken(for: .login(login.id)).name }
        await world.transport.waitForRequests(2)
        first.open()
        // The fence is another's now: kept, but not as the current token, and the heir's intent stays open.
        while try await world.vault.store.login(login.id.handle).refresh?.previousRefresh == nil, !Task.isCancelled {
            await Task.yield()
        }
        #expect(try await world.vault.login(login.id).generation == 1)
        #expect(try await world.vault.store.login(login.id.handle).intent != nil)
        second.open()
        #expect(try await heir.value == "2")
        await world.withTimePassing { _ = try? await late.value }
        #expect(
            try await world.vault.store.login(login.id.handle).refresh?.refreshToken?.string() == "CANARY-refresh-2")
    }

    @Test func aHeldLoginServesWhatIsValidAndSendsNothing() {
        var session = SessionRecord(
            state: .established, createdAt: Timestamp(milliseconds: 0), obtainedAt: Timestamp(milliseconds: 0))
        let now = Timestamp(milliseconds: 1)
        #expect(RenewalRefusal(session: session, userStatus: .active, isHeld: true, now: now) == .held)
        #expect(RenewalRefusal(session: session, userStatus: .active, isHeld: false, now: now) == nil)
        session.notBefore = Timestamp(milliseconds: 2)
        #expect(
            RenewalRefusal(session: session, userStatus: .active, isHeld: false, now: now)
                == .postponed(until: Timestamp(milliseconds: 2)))
        session.failure = FailureRecord(reason: 1, at: now)
        #expect(RenewalRefusal(session: session, userStatus: .active, isHeld: false, now: now) == .dead(.deadGrant))
        session.state = .terminated
        #expect(RenewalRefusal(session: session, userStatus: .active, isHeld: false, now: now) == .terminated)
        #expect(RenewalRefusal(session: session, userStatus: .disabled, isHeld: false, now: now) == .userDisabled)
    }
}
