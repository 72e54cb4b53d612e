import EngineSupport
import FoundationEssentials
import HTTPTypes
import OAuthClient
import Testing
import TokenVaultTesting

@testable import TokenVault

@Suite(.tags(.everyEngine))
struct SingleFlightTests {
    @Test func aThousandCallersShareOneRequest() async throws {
        let world = try await World()
        let login = try await world.addChain()
        for round in 2...6 {
            world.expire()
            let gate = Gate()
            world.transport.enqueue(.generation("\(round)").behind(gate))
            try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<1_000 {
                    group.addTask { try await world.users.accessToken(for: .login(login.id)).name }
                }
                await world.transport.waitForRequests(round - 1)
                gate.open()
                for try await name in group { #expect(name == "\(round)") }
            }
            #expect(world.transport.requestCount == round - 1)
        }
    }

    @Test func twoManagersOfOneVaultShareOneRequest() async throws {
        let world = try await World()
        try await world.addChain()
        let other = try await UserManager(vault: world.vault, transport: world.transport, options: World.options)
        try await expectOneRequest(world, other)
    }

    @Test func twoProcessesShareOneRequest() async throws {
        let world = try await World()
        try await world.addChain()
        let other = try await world.anotherProcess()
        try await expectOneRequest(world, other.users)
        await other.vault.close()
    }

    private func expectOneRequest(_ world: World, _ other: UserManager) async throws {
        let gate = Gate()
        world.transport.enqueue(.generation("2").behind(gate))
        world.expire()
        try await world.withTimePassing {
            try await withThrowingTaskGroup(of: String.self) { group in
                for index in 0..<100 {
                    let users = index.isMultiple(of: 2) ? world.users : other
                    group.addTask { try await users.accessToken(userId: "alice").name }
                }
                await world.transport.waitForRequests(1)
                gate.open()
                for try await name in group { #expect(name == "2") }
            }
        }
        #expect(world.transport.requestCount == 1)
    }

    /// The tokens are stored, and the renewal that brought them has yet to tell those who wait for it.
    @Test func whoAsksForANewerTokenAfterTheCommitGetsOne() async throws {
        let world = try await World()
        let login = try await world.addChain()
        let process = try await world.faulty()
        let (isStored, mayEnd) = (Gate(), Gate())
        process.store.afterCommit { commit in
            guard commit == 2 else { return }
            isStored.open()
            await mayEnd.pass()
        }
        world.transport.enqueue(.generation("2"), .generation("3"))
        let first = Task { try await process.users.accessToken(for: .login(login.id), .renewed).name }
        await isStored.pass()
        // It waits with a deadline, so that it can be seen waiting.
        let second = Task {
            let request = TokenRequest(deadline: .seconds(60), renewsNow: true)
            return try await process.users.accessToken(for: .login(login.id), request).name
        }
        await world.time.waitForSleepers()
        mayEnd.open()
        // Who reads late what his renewal has brought gets what is there then.
        #expect(try await ["2", "3"].contains(first.value))
        #expect(try await second.value == "3")
        #expect(world.transport.requestCount == 2)
        await process.vault.close()
    }

    @Test func aCancelledCallerCancelsOnlyItsOwnWait() async throws {
        let world = try await World()
        try await world.addChain()
        let gate = Gate()
        world.transport.enqueue(.generation("2").behind(gate))
        world.expire()
        let starter = Task { try await world.users.accessToken(userId: "alice").name }
        await world.transport.waitForRequests(1)
        let follower = Task { try await world.users.accessToken(userId: "alice").name }
        starter.cancel()
        await #expect(throws: CancellationError.self) { try await starter.value }
        gate.open()
        #expect(try await follower.value == "2")
        #expect(world.transport.requestCount == 1)
    }

    @Test func renewalIsStoredAfterAllCallersCancelled() async throws {
        let world = try await World()
        let login = try await world.addChain()
        let gate = Gate()
        world.transport.enqueue(.generation("2").behind(gate))
        world.expire()
        let caller = Task { try await world.users.accessToken(userId: "alice") }
        await world.transport.waitForRequests(1)
        caller.cancel()
        await #expect(throws: CancellationError.self) { try await caller.value }
        gate.open()
        #expect(try await world.users.accessToken(for: .login(login.id)).name == "2")
        #expect(world.transport.requestCount == 1)
    }

    @Test func aDeadlineBoundsTheWaitAndNotTheRenewal() async throws {
        let world = try await World()
        let login = try await world.addChain()
        let gate = Gate()
        world.transport.enqueue(.generation("2").behind(gate))
        world.expire()
        let caller = Task {
            try await world.users.accessToken(for: .login(login.id), TokenRequest(deadline: .seconds(2)))
        }
        await world.transport.waitForRequests(1)
        await world.time.waitForSleepers()
        world.time.advance(by: .seconds(2))
        #expect(await code { try await caller.value } == .deadlineExceeded)
        gate.open()
        #expect(try await world.users.accessToken(for: .login(login.id)).name == "2")
        #expect(world.transport.requestCount == 1)
    }

    @Test func atTheDeadlineAnOldTokenThatIsStillGoodIsReturned() async throws {
        let world = try await World()
        try await world.addChain()
        let gate = Gate()
        world.transport.enqueue(.generation("2").behind(gate))
        world.time.advance(by: .seconds(3_400))
        let caller = Task { try await world.users.accessToken(userId: "alice", deadline: .seconds(2)) }
        await world.transport.waitForRequests(1)
        await world.time.waitForSleepers()
        world.time.advance(by: .seconds(2))
        #expect(try await caller.value.name == "1")
        gate.open()
    }

    @Test func failedRenewalReturnsTheOldValidToken() async throws {
        let world = try await World()
        try await world.addChain()
        world.transport.fallback = .status(.serviceUnavailable)
        world.time.advance(by: .seconds(3_400))
        #expect(try await world.users.accessToken(userId: "alice").name == "1")
        #expect(
            try await world.users.accessToken(userId: "alice", minimumValidity: .seconds(150)).name == "1")
        #expect(
            await code { try await world.users.accessToken(userId: "alice", minimumValidity: .seconds(250)) }
                == .tryLater)
        #expect(world.transport.requestCount == 1)
    }

    @Test func closingWaitsForTheRenewalUnderWay() async throws {
        let world = try await World()
        try await world.addChain()
        let gate = Gate()
        world.transport.enqueue(.generation("2").behind(gate))
        world.expire()
        let caller = Task { try? await world.users.accessToken(userId: "alice") }
        await world.transport.waitForRequests(1)
        let closing = Task { await world.vault.close() }
        while await code(of: { try world.vault.requireOpen() }) == nil, !Task.isCancelled { await Task.yield() }
        gate.open()
        await closing.value
        _ = await caller.value
        #expect(await code { try await world.users.accessToken(userId: "alice") } == .closed)
        let reopened = try await world.anotherProcess()
        #expect(try await reopened.users.accessToken(userId: "alice").name == "2")
        #expect(world.transport.requestCount == 1)
    }
}
