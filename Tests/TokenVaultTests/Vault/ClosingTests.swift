import EngineSupport
import OAuthClient
import Testing
import TokenVaultTesting
import VaultStorage

@testable import TokenVault

/// What a vault that is being closed still does, and what it does not begin.
@Suite(.tags(.everyEngine))
struct ClosingTests {
    private func beginClosing(_ world: World) async -> Task<Void, Never> {
        let closing = Task { await world.vault.close() }
        while !world.vault.isClosing, !Task.isCancelled { await Task.yield() }
        return closing
    }

    /// The renewal under way ends as it would have; those that wait for their provider's turn do not begin.
    @Test func renewalsInTheQueueAreRefused() async throws {
        let world = try await World(provider: World.profile(#""limits":{"concurrentRequests":1}"#))
        let logins = try await world.addChains(20)
        let gate = Gate()
        world.transport.fallback = ScriptedReply.generation("new").behind(gate)
        world.expire()
        let first = Task { try await world.users.accessToken(for: .login(logins[0])).name }
        await world.transport.waitForRequests(1)
        let others = logins.dropFirst().map { login in
            Task { await code { try await world.users.accessToken(for: .login(login)) } }
        }
        let provider = try await world.vault.store.provider(named: "acme").handle
        while world.users.context.limiter.waitingCount(provider) < others.count, !Task.isCancelled {
            await Task.yield()
        }
        let closing = await beginClosing(world)
        for other in others { #expect(await other.value == .closed) }
        gate.open()
        #expect(try await first.value == "new")
        await closing.value
        #expect(world.transport.requestCount == 1)
        let next = try await world.anotherProcess()
        #expect(try await next.vault.store.openIntents(after: nil, limit: 10).intents.isEmpty)
        await next.vault.close()
    }

    /// A turn that comes as the vault begins to close is not used.
    @Test func aTurnThatComesTooLateIsNotUsed() async throws {
        let world = try await World(provider: World.profile(#""limits":{"concurrentRequests":1}"#))
        let login = try await world.addChain()
        let process = try await world.faulty()
        world.transport.fallback = .generation("new")
        world.expire()
        process.store.beforeUpdate {
            guard !process.vault.isClosing else { return }
            Task { await process.vault.close() }
            while !process.vault.isClosing, !Task.isCancelled { await Task.yield() }
        }
        #expect(await code { try await process.users.accessToken(for: .login(login.id)) } == .closed)
        #expect(world.transport.requestCount == 0)
    }

    @Test func whoWaitedForTheRenewalUnderWayGetsItsToken() async throws {
        for _ in 0..<20 {
            let world = try await World()
            let login = try await world.addChain()
            let gate = Gate()
            world.transport.enqueue(.generation("2").behind(gate))
            world.expire()
            let callers = (0..<20).map { _ in Task { try await world.users.accessToken(for: .login(login.id)).name } }
            await world.transport.waitForRequests(1)
            let closing = await beginClosing(world)
            gate.open()
            for caller in callers {
                // One who comes only now finds it closed.
                do { #expect(try await caller.value == "2") } catch let error as VaultError {
                    #expect(error.code == .closed)
                }
            }
            #expect(try await callers[0].value == "2")
            await closing.value
        }
    }

    @Test func answerAfterClosingSendsNothing() async throws {
        let handler = RecordingSessionHandler(keeps: true)
        let world = try await World()
        world.users.setSessionHandler(handler)
        let login = try await world.addChain()
        world.transport.fallback = .generation("2")
        world.expire()
        let caller = Task { await code { try await world.users.accessToken(for: .login(login.id)) } }
        await handler.waitForQuestion()
        await world.vault.close()
        #expect(await caller.value != nil)
        #expect(await errorCode { try await handler.last?.renew() } == .renewalVoid)
        let next = try await world.anotherProcess()
        #expect(try await next.vault.store.openIntents(after: nil, limit: 10).intents.isEmpty)
        #expect(world.transport.requestCount == 0)
        await next.vault.close()
    }

    @Test func managersAndSchedulersLeaveNothingBehindInTheVault() async throws {
        let world = try await World()
        let before = world.vault.closingActionCount
        for _ in 0..<20 {
            var options = World.options
            options.recoveryInterval = .seconds(2)
            let users = try await UserManager(vault: world.vault, transport: world.transport, options: options)
            _ = try await RenewalScheduler(users).runOnce()
        }
        while world.vault.closingActionCount > before, !Task.isCancelled { await Task.yield() }
        #expect(world.vault.closingActionCount == before)
    }
}
