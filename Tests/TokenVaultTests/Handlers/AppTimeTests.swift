import EngineSupport
import FoundationEssentials
import OAuthClient
import TestSupport
import Testing
import TokenVaultTesting
import VaultAdministration
import VaultStorage

@testable import TokenVault

/// The time that an app takes is the app's: it holds up no provider, and its process does not count as stalled.
struct AppTimeTests {
    @Test(arguments: [#"{"concurrentRequests":1}"#, #"{"requestsPerMinute":1}"#])
    func aHandlerThatThinksTakesNobodysTurn(_ limits: String) async throws {
        let world = try await World(provider: World.profile(#""limits":\#(limits)"#))
        let logins = try await world.addChains(2)
        let gate = Gate()
        let thinking = RecordingSessionHandler(
            { _ in await gate.pass() }, RecordingSessionHandler.consent)
        world.users.setSessionHandler(thinking)
        world.transport.fallback = .generation("2")
        world.expire()
        let slow = Task { await code { try await world.users.accessToken(for: .login(logins[0])) } }
        await thinking.waitForQuestion()
        #expect(try await world.users.accessToken(for: .login(logins[1])).name == "2")
        #expect(world.transport.requestCount == 1)
        gate.open()
        #expect(await slow.value == .tryLater)
        #expect(world.transport.requestCount == 1)
    }

    /// What the app answers may be sent then, and that takes a turn.
    @Test func whatTheAppAgreesToTakesItsTurn() async throws {
        let world = try await World(provider: World.profile(#""limits":{"concurrentRequests":1}"#))
        let logins = try await world.addChains(3)
        world.users.setSessionHandler(
            RecordingSessionHandler(Array(repeating: RecordingSessionHandler.consent, count: 3)))
        let gate = Gate()
        world.transport.fallback = ScriptedReply.freshTokens().behind(gate)
        world.expire()
        let callers = logins.map { login in Task { try await world.users.accessToken(for: .login(login)).generation } }
        await world.time.waitForRest()
        await world.transport.waitForRequests(1)
        let provider = try await world.vault.store.provider(named: "acme").handle
        while world.users.context.limiter.waitingCount(provider) < 2, !Task.isCancelled { await Task.yield() }
        #expect(world.transport.requestCount == 1)
        gate.open()
        for caller in callers { #expect(try await caller.value == 2) }
    }

    @Test func aHandlerThatFailsIsNoSetbackOfTheProvider() async throws {
        let world = try await World()
        let logins = try await world.addChains(5)
        world.users.setSessionHandler(
            RecordingSessionHandler(Array(repeating: RecordingSessionHandler.nothing, count: 5)))
        world.expire()
        for login in logins {
            #expect(await code { try await world.users.accessToken(for: .login(login)) } == .tryLater)
        }
        let provider = try await world.vault.store.provider(named: "acme").handle
        #expect(world.users.context.health[provider].pace.bound == nil)
        #expect(world.users.context.health[provider].pace.hold(uptime: world.time.uptime()) == nil)
    }

    @Test(arguments: [nil, Duration.seconds(3_600)])
    func aQuestionIsNoStalledRenewal(_ limit: Duration?) async throws {
        var options = World.options
        options.handlerTimeLimit = limit
        options.stallPolicy = .availabilityOverSafety
        let world = try await World()
        let login = try await world.addChain()
        let handler = RecordingSessionHandler(keeps: true)
        let other = try await world.temporary.openAgain()
        let asking = try await UserManager(
            vault: world.vault, transport: world.transport, options: options, sessionHandler: handler)
        let waiting = try await UserManager(
            vault: other, transport: world.transport, options: options, sessionHandler: handler)
        world.transport.enqueue(.generation("2"))
        world.expire()
        let first = Task { try await asking.accessToken(for: .login(login.id)).name }
        await handler.waitForQuestion()
        let second = Task { try await waiting.accessToken(for: .login(login.id)).name }
        for _ in 0..<300 {
            await world.time.waitForSleepers()
            await world.time.waitForRest()
            world.time.advance(by: .seconds(10))
        }
        #expect(handler.asked == 1)
        let step = try await other.diagnosis(of: login.id, stallLimit: .seconds(3_000)).nextStep
        #expect(step == .waitForRenewal)
        try await #require(handler.last).renew()
        let names = try await world.withTimePassing { [try await first.value, try await second.value] }
        #expect(names == ["2", "2"])
        #expect(handler.asked == 1)
        #expect(world.transport.requestCount == 1)
        await other.close()
    }

    @TaskLocal private static var request: String?

    /// The work of a flight is nobody's: not of the call that happened to start it.
    @Test func aHandlerIsNotAskedInTheNameOfOneOfItsCallers() async throws {
        let seen = Box<[(String?, TaskPriority)]>([])
        let handler = RecordingHandler()
        let world = try await World(handler: handler)
        try await world.addPlainLogin()
        handler.enqueue { _, _ in
            seen.value.append((Self.request, Task.currentPriority))
            return RefreshedAccessToken(accessToken: Sample.accessToken("2"))
        }
        world.expire()
        let name = try await Task(priority: .background) {
            try await Self.$request.withValue("GET /") { try await world.users.accessToken(userId: "alice").name }
        }.value
        #expect(name == "2")
        #expect(seen.value.map(\.0) == [nil])
        #expect(seen.value.allSatisfy { $0.1 > .background })
    }
}
