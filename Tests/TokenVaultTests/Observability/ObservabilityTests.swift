import FoundationEssentials
import HTTPTypes
import InMemoryTracing
import Metrics
import MetricsTestKit
import OAuthClient
import Testing
import TokenVaultTesting
import Tracing
import VaultStorage

@testable import TokenVault

struct ObservabilityTests {
    private let metrics = TestMetrics()
    private let tracer = InMemoryTracer()

    private func users(_ world: World, handler: RecordingHandler? = nil) async throws -> UserManager {
        try await UserManager(
            vault: world.vault, transport: world.transport, refreshHandler: handler,
            options: UserManagerOptions(
                recoveryInterval: nil, retriesRevocationsInBackground: false, metrics: metrics, tracer: tracer,
                random: { 1 }))
    }

    private func renewals(_ outcome: RenewalOutcome, provider: String = "acme") -> Int64 {
        metrics.counterTotal(
            label: "token_vault_renewals", dimensions: [("provider", provider), ("outcome", outcome.description)])
    }

    @Test func renewalsAreCountedByOutcome() async throws {
        let world = try await World()
        let users = try await users(world)
        try await world.addChain()
        world.expire()
        world.transport.enqueue(
            .status(.tooManyRequests, headers: [.retryAfter: "10"]), .generation("2"),
            .error("invalid_grant"))
        _ = await code { try await users.accessToken(userId: "alice") }
        world.time.advance(by: .seconds(20))
        _ = try await users.accessToken(userId: "alice")
        world.expire()
        _ = await code { try await users.accessToken(userId: "alice") }
        // A refusal before any attempt is no renewal.
        _ = await code { try await users.accessToken(userId: "alice") }
        #expect(renewals(.transient) == 1)
        #expect(renewals(.renewed) == 1)
        #expect(renewals(.dead) == 1)
        #expect(metrics.counters(label: "token_vault_renewals").reduce(0) { $0 + $1.totalValue } == 3)
        #expect(
            metrics.counterTotal(
                label: "token_vault_logins_dead", dimensions: [("provider", "acme"), ("reason", "deadGrant")]) == 1)
        let timers = metrics.timers(label: "token_vault_renewal_duration")
        #expect(timers.reduce(0) { $0 + $1.values.count } == 3)
    }

    @Test func theAppsRenewalsHaveOneNameOfTheirOwn() async throws {
        let handler = RecordingHandler()
        let world = try await World(handler: handler)
        let users = try await users(world, handler: handler)
        try await world.addPlainLogin()
        world.expire()
        handler.enqueue(RecordingHandler.token("2"))
        _ = try await users.accessToken(userId: "alice")
        #expect(renewals(.renewed, provider: "app") == 1)
    }

    @Test func aGoodTokenIsCountedAndNothingElse() async throws {
        let world = try await World()
        let users = try await users(world)
        try await world.addChain()
        for _ in 0..<10 { _ = try await users.accessToken(userId: "alice") }
        #expect(metrics.counterTotal(label: "token_vault_tokens_served", dimensions: [("waited", "no")]) == 10)
        #expect(metrics.counters.count == 1 && metrics.timers.isEmpty && metrics.recorders.isEmpty)
        #expect(tracer.finishedSpans.isEmpty)
    }

    @Test func whatCallersGetIsCounted() async throws {
        let world = try await World()
        let users = try await users(world)
        try await world.addChain()
        world.expire()
        world.transport.enqueue(.generation("2"), .error("invalid_grant"))
        _ = try await users.accessToken(userId: "alice")
        world.expire()
        _ = await code { try await users.accessToken(userId: "alice") }
        for _ in 0..<2 { _ = await code { try await users.accessToken(for: .user("bob")) } }
        func errors(_ code: VaultError.Code) -> Int64 {
            metrics.counterTotal(label: "token_vault_token_errors", dimensions: [("code", code.name)])
        }
        #expect(metrics.counterTotal(label: "token_vault_tokens_served", dimensions: [("waited", "yes")]) == 1)
        #expect(errors(.refreshFailed) == 1 && errors(.unknownUser) == 2)
        // The two that found no good token have waited.
        let waits = metrics.timers(label: "token_vault_token_wait_duration")
        #expect(waits.reduce(0) { $0 + $1.values.count } == 2)
    }

    /// The caller gave up: nothing has failed.
    @Test func aCancelledCallIsNoError() async throws {
        let world = try await World()
        let users = try await users(world)
        try await world.addChain()
        world.expire()
        let gate = Gate()
        world.transport.enqueue(ScriptedReply.generation("2").behind(gate))
        let call = Task { try await users.accessToken(userId: "alice") }
        await world.transport.waitForRequests(1)
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        gate.open()
        #expect(metrics.counters(label: "token_vault_token_errors").isEmpty)
    }

    @Test func aRenewalIsASpanOfTheCallThatStartedIt() async throws {
        let world = try await World()
        let users = try await users(world)
        try await world.addChain()
        world.expire()
        world.transport.enqueue(.failure(.notSent, .connect), .generation("2"))
        try await tracer.withSpan("request") { _ in
            _ = await code { try await users.accessToken(userId: "alice") }
            world.time.advance(by: .seconds(20))
            _ = try await users.accessToken(userId: "alice")
        }
        let spans = tracer.finishedSpans.filter { $0.operationName == "token_vault.renewal" }
        #expect(spans.map { $0.attributes.get("token_vault.outcome") } == [.string("transient"), .string("renewed")])
        #expect(spans.map { $0.status?.code } == [.error, nil])
        let caller = try #require(tracer.finishedSpans.first { $0.operationName == "request" })
        #expect(spans.allSatisfy { $0.parentSpanID == caller.spanID && $0.kind == .client })
        #expect(spans.allSatisfy { $0.attributes.get("token_vault.provider") == .string("acme") })
    }

    @Test func neitherLabelsNorSpansTellOfUsersOrSecrets() async throws {
        let world = try await World()
        let users = try await users(world)
        var handles: [String] = []
        for index in 0..<20 {
            handles.append(try await world.addChain(user: "alice-\(index)", name: "\(index)").id.description)
        }
        world.expire()
        _ = RotatingServer(world)
        _ = try await RenewalScheduler(users).runOnce()
        var text = ""
        let labels =
            metrics.counters.map(\.dimensions) + metrics.timers.map(\.dimensions)
            + metrics.recorders.map(\.dimensions)
        for dimensions in labels { text += dimensions.map { "\($0.0)=\($0.1) " }.joined() }
        for span in tracer.finishedSpans {
            text += span.operationName
            span.attributes.forEach { text += " \($0)=\($1)" }
        }
        #expect(!text.contains(Sample.marker) && !text.contains("alice"))
        for handle in handles { #expect(!text.contains(handle)) }
        // As many series as there are providers and outcomes, however many logins.
        #expect(metrics.counters.count == 1 && metrics.timers.count == 1)
    }

    @Test func theSchedulerTellsHowFarBehindItIsAndWhatIsOpen() async throws {
        let world = try await World()
        let users = try await users(world)
        try await world.addChain()
        try await world.addChain(user: "bob", name: "2")
        world.transport.fallback = .failure(.notSent, .connect)
        _ = try await users.logOut(.user("bob"))
        world.time.advance(by: .seconds(4_000))
        world.transport.fallback = .failure(.maybeSent, .timeout)
        await world.withTimePassing { _ = await code { try await users.accessToken(userId: "alice") } }
        _ = try await RenewalScheduler(users, options: SchedulerOptions(retriesRevocations: false)).runOnce()
        #expect(try metrics.expectGauge("token_vault_outbox_depth").lastValue == 1)
        #expect(try metrics.expectGauge("token_vault_renewals_in_doubt").lastValue == 1)
        try await world.addChain(user: "carol", name: "3")
        world.time.advance(by: .seconds(4_600))
        _ = RotatingServer(world)
        _ = try await RenewalScheduler(users, options: SchedulerOptions(retriesRevocations: false)).runOnce()
        let lags = try metrics.expectGauge("token_vault_scheduler_lag_seconds").values
        #expect(lags.contains { (1_000...1_600).contains($0) }, "\(lags)")
        #expect(lags.last == 0)
    }

    @Test func repliesThatCouldNotBeStoredAreTold() async throws {
        let world = try await World()
        let users = try await users(world)
        let login = try await world.addChain()
        let scheduler = RenewalScheduler(users, options: SchedulerOptions(retriesRevocations: false))
        _ = try await scheduler.runOnce()
        #expect(try metrics.expectGauge("token_vault_spool_depth").lastValue == 0)
        let stored = try await world.vault.store.login(login.id.handle)
        _ = try world.vault.store.spool.add(
            SpooledReply(
                login: stored.handle, user: stored.user, provider: stored.provider, position: stored.position, fence: 1,
                accessToken: nil, tokenType: "Bearer", obtainedAt: world.vault.now))
        // Once alone it would recover first, and find nothing left to tell.
        let run = Task { try await scheduler.run() }
        while try metrics.expectGauge("token_vault_spool_depth").lastValue != 1 { await Task.yield() }
        run.cancel()
        try await run.value
    }
}
