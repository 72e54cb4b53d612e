import EngineSupport
import FoundationEssentials
import OAuthClient
import TestSupport
import Testing
import TokenVaultTesting
import VaultAdministration
import VaultStorage

@testable import TokenVault

/// Schedulers keep the audit trail bounded, and what stays can be verified.
@Suite(.tags(.everyEngine))
struct TrailRetentionTests {
    private static let day = Duration.seconds(86_400)

    private static func fill(_ world: World, _ count: Int) async throws {
        let store = world.vault.store
        for start in stride(from: 0, to: count, by: 500) {
            _ = try await store.write { transaction in
                for _ in start..<min(count, start + 500) {
                    try transaction.audit(AuditEvent(.failureNotified), about: AuditSubject())
                }
            }
        }
    }

    private static func rows(_ world: World) async throws -> Int { try await world.vault.status().auditRows }

    @Test func oldRowsGoAndNoOthers() async throws {
        let world = try await World()
        try await world.addChain(lifetime: .seconds(1_000_000_000))
        try await Self.fill(world, 3_000)
        world.time.advance(by: Self.day * 60)
        try await Self.fill(world, 1_500)
        let before = try await Self.rows(world)
        world.time.advance(by: Self.day * 29)
        try await world.scheduling { scheduler in
            await world.pass(upTo: .seconds(700), step: .seconds(100))
            #expect(scheduler.report.auditEntriesRemoved == 0, "none is 90 days old")
            world.time.advance(by: Self.day * 2)
            await world.pass(upTo: .seconds(1_400), step: .seconds(100)) { scheduler.report.auditEntriesRemoved > 0 }
            #expect(scheduler.report.auditEntriesRemoved > 2_900)
        }
        let after = try await Self.rows(world)
        #expect(after < before - 2_900 && after >= 1_500, "\(before) \(after)")
        #expect(try await world.vault.verify().isClean)
        #expect(try await world.vault.verifyAudit().prunedThrough > 2_900)
        let records = try await world.vault.auditRecords(before: .max, AuditQuery(kinds: ["trailPruned"])).records
        #expect(!records.isEmpty && records.allSatisfy { $0.pruning.map { $0.removed > 0 } ?? false })
    }

    /// A row that records a pruning is no reason for the next one.
    @Test func aQuietVaultIsLeftAlone() async throws {
        let world = try await World()
        try await Self.fill(world, 1_400)
        world.time.advance(by: Self.day * 100)
        let retention = AuditRetention(age: Self.day * 99)
        #expect(try await world.vault.isPruningDue(retention) == false, "400 rows, and none a tenth too old")
        world.time.advance(by: Self.day * 10)
        #expect(try await world.vault.isPruningDue(retention))
        let done = try await world.vault.pruneAudit(retention)
        #expect(done.removed > 300 && done.kept <= 2)
        #expect(try await world.vault.isPruningDue(retention) == false)
    }

    @Test func itCanBeTurnedOff() async throws {
        let world = try await World()
        try await Self.fill(world, 3_000)
        world.time.advance(by: Self.day * 400)
        try await world.scheduling(SchedulerOptions(auditAge: nil)) { scheduler in
            await world.pass(upTo: .seconds(1_400), step: .seconds(100))
            #expect(scheduler.report.auditEntriesRemoved == 0)
        }
        #expect(try await Self.rows(world) >= 3_000)
    }

    /// A feed that is behind is told that something is missing, and goes on.
    @Test func aFeedIsToldWhatItMissed() async throws {
        let world = try await World()
        let login = try await world.addChain(lifetime: .seconds(1_000_000_000)).id
        var iterator = world.users.events(of: .login(login)).makeAsyncIterator()
        let store = world.vault.store
        // In one transaction: the feed reads what was committed, and the rows are gone by then.
        let count = try await store.write { transaction in
            for _ in 0..<1_200 { try transaction.audit(AuditEvent(.failureNotified), about: AuditSubject()) }
            return try transaction.prune(TrailLimits(before: nil, keepingLast: 1), size: 10_000).removed
        }
        #expect(count > 1_000)
        _ = try await world.users.updateAccessToken(
            for: .login(login), accessToken: AccessToken(Sample.marker + "next"),
            expiresAt: world.now.addingTimeInterval(7_200))
        var kinds: [SessionEvent.Kind] = []
        while kinds.last != .updated, let event = await iterator.next(isolation: nil) { kinds.append(event.kind) }
        guard case .missed(let missed)? = kinds.first else {
            Issue.record("it begins with \(kinds)")
            return
        }
        #expect(missed >= 1_000)
        #expect(kinds.last == .updated)
    }
}
