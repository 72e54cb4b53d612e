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

/// Owners that live and do not go on.
@Suite(.tags(.everyEngine))
struct StallTests {
    /// A process whose request hangs, and what it was asked for.
    private func stall(
        _ world: World, _ login: Login, reply: String = "late"
    ) async throws -> (process: Vault, gate: Gate, call: Task<String, any Error>) {
        let stalled = try await world.anotherProcess()
        let gate = Gate()
        world.transport.enqueue(.generation(reply).behind(gate))
        let call = Task { try await stalled.users.accessToken(for: .login(login.id)).name }
        await world.transport.waitForRequests(1)
        return (stalled.vault, gate, call)
    }

    @Test func anOldTokenIsServedWhileItIsGood() async throws {
        let world = try await World()
        let login = try await world.addChain()
        world.time.advance(by: .seconds(3_400))
        let stalled = try await stall(world, login)
        await world.withTimePassing {
            #expect(await code { try await world.users.accessToken(for: .login(login.id)) } == nil)
        }
        // The owner is known to be stalled: nobody waits for it again.
        #expect(
            try await world.withTimePassing { try await world.users.accessToken(for: .login(login.id)) }.name == "1")
        world.expire()
        await world.withTimePassing {
            #expect(await code { try await world.users.accessToken(for: .login(login.id)) } == .refreshStalled)
        }
        #expect(try await world.vault.diagnosis(of: login.id).renewal?.owner == .otherProcess)
        #expect(try await world.vault.diagnosis(of: login.id).nextStep == .takeOverStalled)
        #expect(world.transport.requestCount == 1)
        stalled.gate.open()
        _ = await stalled.call.result
        await stalled.process.close()
    }

    @Test func byDefaultAnOwnerHasTwiceTheTimeOfARequest() async throws {
        let world = try await World()
        let login = try await world.addChain()
        world.expire()
        let stalled = try await stall(world, login)
        let start = world.time.uptime()
        await world.withTimePassing {
            #expect(await code { try await world.users.accessToken(for: .login(login.id)) } == .refreshStalled)
        }
        #expect(world.time.uptime() - start >= .seconds(60))
        #expect(world.time.uptime() - start < .seconds(70))
        stalled.gate.open()
        _ = try await stalled.call.value
        await stalled.process.close()
    }

    @Test func aClockThatIsSetMakesNoOwnerLookStalled() async throws {
        let world = try await World()
        let login = try await world.addChain()
        world.expire()
        let sending = try await stall(world, login)
        world.time.setWallClock(forwardBy: .seconds(1_800))
        let call = Task { try await world.users.accessToken(for: .login(login.id)).name }
        try await world.time.passing {
            try await world.time.sleep(for: .seconds(3))
            sending.gate.open()
            #expect(try await call.value == "late")
        }
        _ = try await sending.call.value
        await sending.process.close()
    }

    @Test func takingOverIsADoubtThatIsToldOf() async throws {
        let world = try await World()
        let login = try await world.addChain()
        #expect(await code { try await world.users.takeOver(.login(login.id)) } == .conflict)
        world.expire()
        let stalled = try await stall(world, login)
        try await world.users.takeOver(.login(login.id))
        let renewal = try await #require(try world.vault.diagnosis(of: login.id).renewal)
        #expect(renewal.doubt?.cause == .takenOver)
        #expect(renewal.owner == .nobody)
        await #expect(try world.tale().contains("intentTakenOver cause=takenOver"))
        #expect(await code { try await world.users.takeOver(.login(login.id)) } == .conflict)
        world.transport.enqueue(.generation("2"))
        #expect(try await world.users.accessToken(for: .login(login.id)).name == "2")
        // The robbed owner takes the winner's token, and keeps its own apart.
        stalled.gate.open()
        #expect(try await stalled.call.value == "2")
        let refresh = try await #require(try world.stored(login).refresh)
        #expect(refresh.refreshToken?.string() == "CANARY-refresh-2")
        #expect(refresh.previousRefresh?.string() == "CANARY-refresh-late")
        #expect(refresh.previousRole == .sibling)
        await stalled.process.close()
    }

    @Test func theReplyOfARobbedOwnerIsUsedInsteadOfAReplay() async throws {
        let world = try await World()
        let login = try await world.addChain()
        world.expire()
        let stalled = try await stall(world, login)
        try await world.users.takeOver(.login(login.id))
        stalled.gate.open()
        world.transport.enqueue(.generation("3"))
        // Its own call finds that it was robbed, and goes on with what its reply brought.
        #expect(try await stalled.call.value == "3")
        #expect(
            world.transport.requests.map { $0.form["refresh_token"] } == ["CANARY-refresh-1", "CANARY-refresh-late"])
        await #expect(try !world.vault.login(login.id).isInDoubt)
        await stalled.process.close()
    }

    @Test func whenTheWinnersTokenIsRefusedTheOtherOneIsTried() async throws {
        let world = try await World()
        let login = try await world.addChain()
        world.expire()
        let stalled = try await stall(world, login)
        try await world.users.takeOver(.login(login.id))
        world.transport.enqueue(.generation("2"))
        #expect(try await world.users.accessToken(for: .login(login.id)).name == "2")
        stalled.gate.open()
        _ = try await stalled.call.value
        world.expire()
        world.transport.enqueue(.error("invalid_grant"), .generation("4"))
        #expect(try await world.users.accessToken(for: .login(login.id)).name == "4")
        #expect(world.transport.requests.last?.form["refresh_token"] == "CANARY-refresh-late")
        #expect(try await world.vault.login(login.id).failure == nil)
        await stalled.process.close()
    }

    @Test func whenBothAreRefusedAReplyWasLost() async throws {
        let world = try await World()
        let login = try await world.addChain()
        world.expire()
        let stalled = try await stall(world, login)
        try await world.users.takeOver(.login(login.id))
        world.transport.enqueue(.generation("2"))
        _ = try await world.users.accessToken(for: .login(login.id))
        stalled.gate.open()
        _ = try await stalled.call.value
        world.expire()
        world.transport.fallback = .error("invalid_grant")
        #expect(await code { try await world.users.accessToken(for: .login(login.id)) } == .lostResponse)
        #expect(world.transport.requestCount == 4)
        await stalled.process.close()
    }

    @Test func onlyThePolicyForAvailabilityRobs() async throws {
        let world = try await World()
        let login = try await world.addChain()
        world.expire()
        let stalled = try await stall(world, login)
        var options = World.options
        options.stallPolicy = .availabilityOverSafety
        let bold = try await UserManager(vault: world.vault, transport: world.transport, options: options)
        world.transport.enqueue(.generation("2"))
        #expect(try await world.withTimePassing { try await bold.accessToken(for: .login(login.id)) }.name == "2")
        await #expect(try world.tale().contains("intentTakenOver cause=takenOver"))
        stalled.gate.open()
        _ = try await stalled.call.value
        await stalled.process.close()
    }

    @Test func aClockThatIsSetForwardRobsNobody() async throws {
        let world = try await World()
        let login = try await world.addChain()
        world.expire()
        let stalled = try await stall(world, login)
        var options = World.options
        options.stallPolicy = .availabilityOverSafety
        let bold = try await UserManager(vault: world.vault, transport: world.transport, options: options)
        world.time.setWallClock(forwardBy: .seconds(86_400))
        world.transport.fallback = .generation("2")
        let start = world.time.uptime()
        #expect(try await world.withTimePassing { try await bold.accessToken(for: .login(login.id)) }.name == "2")
        #expect(world.time.uptime() - start >= .seconds(60))
        stalled.gate.open()
        _ = await stalled.call.result
        await stalled.process.close()
    }

    @Test(arguments: PreviousRefreshRole.allCases)
    func aLogOutEndsTheTokenOfALateReplyToo(role: PreviousRefreshRole) async throws {
        let world = try await World()
        let login = try await world.addChain()
        try await world.vault.store.updateLogin(login.id.handle) { state in
            state.refresh?.keep(
                SecretBytes(utf8: "CANARY-refresh-other"), as: role, since: Timestamp(milliseconds: 0))
        }
        world.transport.fallback = .status(.ok)
        #expect(try await world.users.logOut(.login(login.id)).isComplete)
        let revoked = world.transport.requests.map { $0.form["token"] }
        // Its predecessor is spent.
        #expect(revoked == ["CANARY-refresh-1"] + (role == .predecessor ? [] : ["CANARY-refresh-other"]))
    }
}
