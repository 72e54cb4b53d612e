import TestSupport
import Testing

@testable import VaultPostgreSQL
@testable import VaultStorage

/// A failover has lost commits of processes that have ended: what counts is that somebody knows of them.
struct MissedCommitTests {
    /// It had confirmed nothing: another one had. What was promised to a process that has ended since is missed by those who
    /// have seen it.
    @Test func whatOthersHaveSeenIsMissedThoughAStandbyWasSynchronous() async throws {
        let cluster = try Cluster()
        let synchronous = try PostgreSQLServer(standbyOf: cluster.primary)
        try await cluster.vault.demandStandby()
        let login = try await cluster.store.insertLogin(cluster.vault.draft("alice")).handle
        let standbys = "SELECT count(*) FROM pg_stat_replication"
        try await eventually {
            try cluster.vault.sql("\(standbys) WHERE replay_lsn = pg_current_wal_lsn()").integer(0, 0) == 2
        }
        try cluster.standby.detach()
        try await eventually { try cluster.vault.sql(standbys).integer(0, 0) == 1 }
        let short = try cluster.vault.open(machine: "short")
        try await short.updateLogin(login) { $0.session.label = "acknowledged" }
        await short.shutDown()
        try cluster.failOver()
        try await cluster.goOn { _ = try await cluster.store.write { _ in } }
        #expect(try await cluster.store.login(login).isHeld)
        #expect(try await cluster.outcome()["outcome"] == "lost")
        try synchronous.stop()
    }

    /// It has closed in good order, and neither that nor its change has reached the standby.
    @Test func theLastChangeOfAShortProcessIsMissed() async throws {
        let cluster = try Cluster()
        let login = try await cluster.store.insertLogin(cluster.vault.draft("alice")).handle
        try await cluster.detach()
        let short = try cluster.vault.open(machine: "short")
        try await short.updateLogin(login) { $0.session.label = "acknowledged" }
        await short.shutDown()
        try cluster.failOver()
        try await cluster.goOn { _ = try await cluster.store.write { _ in } }
        #expect(try await cluster.store.login(login).isHeld)
        #expect(try await cluster.outcome()["outcome"] == "lost")
    }

    /// Its row is still there on the standby, and nothing is missing that it could know.
    @Test func nobodyWaitsForAProcessThatHasOnlyRead() async throws {
        let cluster = try Cluster()
        let login = try await cluster.store.insertLogin(cluster.vault.draft("alice")).handle
        let reader = try cluster.vault.open(machine: "reader")
        _ = try await reader.login(login)
        #expect(try cluster.vault.hasChanged(reader.owner) == false)
        #expect(try cluster.vault.hasChanged(cluster.store.owner) == true)
        try await cluster.detach()
        await reader.shutDown()
        #expect(try cluster.vault.hasChanged(reader.owner) == nil)
        let start = SuspendingClock.now
        try cluster.failOver()
        try await cluster.goOn { _ = try await cluster.store.write { _ in } }
        #expect(start.duration(to: .now) < FailoverSettlement.patience)
        #expect(try await !cluster.store.login(login).isHeld)
        #expect(try await cluster.outcome()["outcome"] == "whole")
    }
}
