import EngineSupport
import FoundationEssentials
import HTTPTypes
import Logging
import MetricsTestKit
import OAuthClient
import ServiceLifecycle
import TestSupport
import Testing
import TokenVaultTesting
import VaultAdministration
import VaultStorage

@testable import TokenVault

@Suite(.tags(.everyEngine))
struct RenewalSchedulerTests {
    @Test func loginsAreRenewedAheadSoThatNoCallerWaits() async throws {
        let world = try await World()
        let server = RotatingServer(world)
        let logins = try await world.addChains(5)
        try await world.scheduling { scheduler in
            await world.pass(upTo: .seconds(2_990), step: .seconds(130))
            #expect(server.count == 0)
            await world.pass(upTo: .seconds(400), step: .seconds(10)) { server.count == 5 }
            #expect(server.times.allSatisfy { $0 >= .seconds(3_000) && $0 <= .seconds(3_310) })
            for login in logins {
                let token = try await world.users.validAccessToken(for: .login(login))
                #expect(token != nil)
            }
            // The next time comes by itself.
            await world.pass(upTo: .seconds(3_400), step: .seconds(100)) { server.count == 10 }
            #expect(server.count == 10)
            #expect(scheduler.report.renewed == 10)
        }
    }

    @Test func theLongestDueComesFirst() async throws {
        let world = try await World()
        let server = RotatingServer(world)
        // Far enough from each other that no spread changes the order.
        for (index, lifetime) in [1_600, 100, 400, 200, 800].enumerated() {
            try await world.addChain(user: "u\(index)", name: "\(lifetime)", lifetime: .seconds(lifetime))
        }
        world.time.advance(by: .seconds(2_000))
        try await world.scheduling(SchedulerOptions(concurrency: 1)) { _ in
            await world.pass(upTo: .seconds(60)) { server.count == 5 }
        }
        #expect(server.tokens == [100, 200, 400, 800, 1_600].map { Sample.marker + "refresh-\($0)" })
    }

    /// Most commits of a service are renewals, which put something off.
    @Test func aCommitThatPutsARenewalOffDoesNotWakeIt() async throws {
        let world = try await World()
        let metrics = TestMetrics()
        var options = World.options
        options.metrics = metrics
        let users = try await UserManager(vault: world.vault, transport: world.transport, options: options)
        let store = world.vault.store
        // The one that is waited for, and one that changes meanwhile.
        try await world.addChain(user: "bob", name: "2", lifetime: .seconds(2_000))
        let login = try await world.addChain().id.handle
        let (later, soon) = (world.vault.now.advanced(by: .seconds(9_000)), world.vault.now.advanced(by: .seconds(60)))
        // Set by each look.
        func looks() -> Int {
            metrics.recorders(label: "token_vault_scheduler_renewals_under_way").reduce(0) { $0 + $1.values.count }
        }
        try await world.scheduling(SchedulerOptions(longestPause: .seconds(100_000)), with: users) { _ in
            await world.settle()
            let before = looks()
            for number in 0..<10 {
                try await store.updateLogin(login) { $0.dueAt = later.advanced(by: .seconds(number)) }
                await world.settle()
            }
            #expect(before > 0 && looks() == before)
            try await store.updateLogin(login) { $0.dueAt = soon }
            await world.settle()
            #expect(looks() > before)
        }
    }

    @Test func aCommitThatBringsTheNextRenewalNearerWakesIt() async throws {
        let world = try await World()
        let server = RotatingServer(world)
        try await world.scheduling(SchedulerOptions(longestPause: .seconds(100_000))) { _ in
            await world.settle()
            try await world.addChain(lifetime: .seconds(10))
            await world.pass(upTo: .seconds(20)) { server.count == 1 }
            #expect(server.count == 1)
        }
    }

    @Test func anUpdateThatBringsTheNextRenewalNearerWakesIt() async throws {
        let world = try await World()
        let server = RotatingServer(world)
        let login = try await world.addChain(lifetime: .seconds(50_000)).id
        try await world.scheduling(SchedulerOptions(longestPause: .seconds(100_000))) { _ in
            await world.settle()
            _ = try await world.users.updateAccessToken(
                for: .login(login), accessToken: Sample.accessToken("short"),
                expiresAt: world.now.addingTimeInterval(10))
            await world.pass(upTo: .seconds(20)) { server.count == 1 }
            #expect(server.count == 1)
        }
    }

    /// Tokens of twenty seconds are due before half a minute is over.
    @Test func tokensThatLiveForSecondsAreRenewedAheadToo() async throws {
        let world = try await World()
        let server = RotatingServer(world, lifetime: 20)
        let login = try await world.addChain(lifetime: .seconds(20)).id
        try await world.scheduling { scheduler in
            for second in 0..<200 {
                await world.pass(upTo: .seconds(1))
                let token = try await world.users.validAccessToken(
                    for: .login(login), TokenRequest(minimumValidity: .zero))
                #expect(token != nil, "\(second) s")
            }
            #expect((9...20).contains(server.count))
            #expect(scheduler.report.renewed == server.count)
        }
    }

    /// What it says of the next time is when it looks: a login is left alone for a while.
    @Test func theNextTimeIsNotBeforeTheNextLook() async throws {
        let world = try await World()
        _ = RotatingServer(world, lifetime: 8)
        try await world.addChain(lifetime: .seconds(8))
        try await world.addChain(user: "bob", name: "b", lifetime: .seconds(8))
        world.transport.enqueue(.status(.tooManyRequests, headers: [.retryAfter: "1"]))
        let told = Box<[(at: Date, ScheduledRenewal)]>([])
        let options = SchedulerOptions(concurrency: 1) { renewal in told.value.append((world.now, renewal)) }
        try await world.scheduling(options) { _ in
            await world.pass(upTo: .seconds(60)) { told.value.count >= 6 }
        }
        #expect(told.value.contains { $0.1.outcome != .renewed })
        for (at, renewal) in told.value {
            let next = try #require(renewal.nextDue)
            #expect(next.timeIntervalSince(at) >= (renewal.outcome == .renewed ? 5 : 30))
        }
    }

    /// What is due in the outbox is begun another time; who shuts down does not wait for a provider that does not answer.
    @Test func aShutdownDoesNotWaitForRevocations() async throws {
        let world = try await World()
        for index in 0..<5 { try await world.addChain(user: "user-\(index)", name: "\(index)") }
        world.transport.fallback = .failure(.notSent, .connect)
        for index in 0..<5 { _ = try await world.users.logOut(.user("user-\(index)")) }
        world.time.advance(by: .seconds(60))
        await world.time.waitForRest()
        let before = world.transport.requestCount
        let gate = Gate()
        world.transport.fallback = ScriptedReply.status(.ok).behind(gate)
        let scheduler = RenewalScheduler(world.users)
        let task = Task { try await scheduler.run() }
        await world.transport.waitForRequests(before + 1)
        task.cancel()
        try await task.value
        #expect(world.transport.requestCount == before + 1)
        gate.open()
        await world.vault.close()
        #expect(world.transport.requestCount == before + 1)
    }

    @Test func gracefulShutdownFinishesRunningRenewalsOnly() async throws {
        let world = try await World()
        let logins = try await world.addChains(3)
        world.expire()
        let gate = Gate()
        world.transport.fallback = ScriptedReply.generation("new").behind(gate)
        let scheduler = RenewalScheduler(world.users, options: SchedulerOptions(concurrency: 1))
        let group = ServiceGroup(services: [scheduler], logger: Logger(label: "test"))
        let task = Task { try await group.run() }
        await world.transport.waitForRequests(1)
        await group.triggerGracefulShutdown()
        while !scheduler.isEnding, !Task.isCancelled { await Task.yield() }
        gate.open()
        try await task.value
        #expect(world.transport.requestCount == 1)
        #expect(scheduler.report.renewed == 1)
        let renewed = try await logins.asyncCount {
            try await world.users.validAccessToken(for: .login($0))?.name == "new"
        }
        #expect(renewed == 1)
    }

    @Test func aCancelledTaskFinishesWhatIsUnderWayToo() async throws {
        let world = try await World()
        try await world.addChain()
        world.expire()
        let gate = Gate()
        world.transport.fallback = ScriptedReply.generation("new").behind(gate)
        let scheduler = RenewalScheduler(world.users)
        let task = Task { try await scheduler.run() }
        await world.transport.waitForRequests(1)
        task.cancel()
        gate.open()
        try await task.value
        #expect(scheduler.report.renewed == 1)
    }

    @Test func closingTheVaultEndsIt() async throws {
        let world = try await World()
        let scheduler = RenewalScheduler(world.users)
        let task = Task { try await scheduler.run() }
        await world.time.waitForSleepers()
        await world.vault.close()
        try await task.value
        await #expect(throws: VaultError.self) { try await scheduler.run() }
    }

    @Test func twoProcessesRenewAHundredDueLoginsOnceEach() async throws {
        let world = try await World()
        let server = RotatingServer(world)
        let logins = try await world.addChains(100)
        let other = try await world.anotherProcess()
        world.expire()
        let reports = try await world.scheduling(SchedulerOptions(concurrency: 8)) { first in
            try await world.scheduling(SchedulerOptions(concurrency: 8), with: other.users) { second in
                await world.pass(upTo: .seconds(120)) {
                    server.count >= 100 && first.report.renewed + second.report.renewed >= 100
                }
                return (first.report, second.report)
            }
        }
        #expect(server.count == 100)
        #expect(Set(server.tokens).count == 100)
        #expect(reports.0.renewed + reports.1.renewed == 100)
        for login in logins { await #expect(try world.users.validAccessToken(for: .login(login)) != nil) }
        print("scheduler: two processes shared 100 logins: \(reports.0.renewed) + \(reports.1.renewed), 100 requests")
        await other.vault.close()
    }

    @Test func onceWorksOffWhatIsDueAndReturns() async throws {
        let world = try await World(provider: World.profile(#""limits":{"concurrentRequests":2}"#))
        let server = RotatingServer(world)
        _ = try await world.addChains(7)
        #expect(try await RenewalScheduler(world.users).runOnce().outcomes.isEmpty)
        world.expire()
        let report = try await RenewalScheduler(world.users).runOnce()
        #expect(report.renewed == 7)
        #expect(report.failed == 0)
        #expect(server.count == 7)
        world.expire()
        world.transport.fallback = .failure(.notSent, .connect)
        #expect(try await RenewalScheduler(world.users).runOnce().failed > 0)
    }

    @Test("tokens only the app can renew are renewed where a handler is set, and skipped elsewhere")
    func appTokensAreRenewedOnlyWithAHandler() async throws {
        let handler = RecordingHandler()
        let world = try await World(handler: handler)
        let login = try await world.addPlainLogin()
        let other = try await world.anotherProcess()
        world.time.advance(by: .seconds(3_599))
        #expect(try await RenewalScheduler(other.users).runOnce().outcomes.isEmpty)
        #expect(handler.asked.isEmpty)
        handler.enqueue(RecordingHandler.token("2", expiresAt: world.now.addingTimeInterval(7_200)))
        #expect(try await RenewalScheduler(world.users).runOnce().renewed == 1)
        await #expect(try world.users.validAccessToken(for: .login(login.id))?.name == "2")
        // A day after it ran out, who cannot renew it takes it out of the index; the next write brings it back.
        world.time.advance(by: .seconds(7_200 + 86_500))
        #expect(try await RenewalScheduler(other.users).runOnce().outcomes.isEmpty)
        await #expect(try world.vault.store.login(login.id.handle).dueAt == nil)
        try await world.users.updateAccessToken(
            for: .login(login.id), accessToken: Sample.accessToken("3"), expiresAt: world.now.addingTimeInterval(60))
        await #expect(try world.vault.store.login(login.id.handle).dueAt != nil)
        await other.vault.close()
    }

    @Test func aRowOfAnOlderVersionIsPutRightWithoutARequest() async throws {
        let world = try await World()
        let login = try await world.addChain()
        let now = world.vault.now
        try await world.vault.store.updateLogin(login.id.handle) { $0.dueAt = now }
        #expect(try await RenewalScheduler(world.users).runOnce().outcomes.isEmpty)
        #expect(world.transport.requestCount == 0)
        let stored = try await world.vault.store.login(login.id.handle)
        #expect(stored.dueAt == stored.nextDue)
        #expect(stored.dueAt.map { $0 > now } == true)
    }

    @Test func dueRevocationsAreRetried() async throws {
        let world = try await World()
        try await world.addChain()
        world.transport.fallback = .failure(.notSent, .connect)
        #expect(try await world.users.logOut(.user("alice")).isComplete == false)
        // A log-out looks at the outbox once more in the background: it must not come after the time that passes here.
        await world.time.waitForRest()
        world.time.advance(by: .seconds(60))
        world.transport.fallback = .status(.ok)
        try await world.scheduling { scheduler in
            while scheduler.report.revocationsSettled == 0, !Task.isCancelled { await Task.yield() }
            #expect(scheduler.report.revocationsTried == 1)
        }
        #expect(try await world.vault.status().pendingRevocations == 0)
    }
}
