import TestSupport
import Testing

@testable import VaultPostgreSQL
@testable import VaultStorage

/// A failover has lost commits of processes that have ended: what counts is that somebody knows of them.
struct MissedCommitTests {
    /// It had confirmed nothing: another one had. What was promised to a process that has ended since is missed by those who
    /// have seen it.
    @Test func lostCommitIsNoticedByProcessesThatSawIt() async throws {
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
        try await cluster.vault.change(login, to: "acknowledged", machine: "short")
        #expect(try await cluster.failOverAndGoOn(login))
        #expect(try await cluster.outcome()["outcome"] == "lost")
        try synchronous.stop()
    }

    /// It has closed in good order, and neither that nor its change has reached the standby.
    @Test func theLastChangeOfAShortProcessIsMissed() async throws {
        let cluster = try Cluster()
        let login = try await cluster.store.insertLogin(cluster.vault.draft("alice")).handle
        try await cluster.detach()
        try await cluster.vault.change(login, to: "acknowledged", machine: "short")
        #expect(try await cluster.failOverAndGoOn(login))
        #expect(try await cluster.outcome()["outcome"] == "lost")
    }

    /// A failover that loses its change finds somebody who misses it, whatever the next second brings.
    @Test func nobodyEndsBeforeAnotherHasHeardOfTheirChange() async throws {
        let vault = try ServerVault()
        let login = try await vault.store.insertLogin(vault.draft("alice")).handle
        // No process waits for ever where the machine is too busy.
        for _ in 0..<5 {
            let short = try vault.open(machine: "short")
            try await short.updateLogin(login) { $0.session.label = "acknowledged" }
            await short.shutDown()
            if !short.watch.isAhead { return }
        }
        Issue.record("a process has ended and no other has heard of its change")
    }

    /// The standby has what it committed, but not that it left. Another process was told so.
    @Test func nobodyWaitsForAShortProcessThatWasHeardToLeave() async throws {
        let cluster = try Cluster()
        let login = try await cluster.store.insertLogin(cluster.vault.draft("alice")).handle
        let short = try cluster.vault.open(machine: "short")
        try await short.updateLogin(login) { $0.session.label = "acknowledged" }
        try await cluster.detach()
        await short.shutDown()
        try await eventually { cluster.store.watch.left.contains(short.owner) }
        #expect(try await !cluster.failOverAndGoOn(login))
        #expect(try await cluster.store.login(login).session.label == "acknowledged")
        #expect(try await cluster.outcome()["outcome"] == "whole")
        #expect(try cluster.vault.hasChanged(short.owner) == nil)
    }

    /// The machine of a short process remembers what the new primary lacks, and the one who can do it again comes later.
    @Test func whoComesFirstLeavesItToThoseWhoKnow() async throws {
        let cluster = try Cluster(timeouts: ServerVault.longTimeouts)
        let vault = cluster.vault
        let (living, way) = try cluster.open(machine: "living")
        let login = try await cluster.store.insertLogin(vault.draft("alice")).handle
        try await living.updateLogin(login) { $0.session.label = "before" }
        try await cluster.detach()
        try await living.updateLogin(login) { $0.session.label = "acknowledged" }
        try vault.remember(living, on: "short")
        way.refuse()
        try cluster.failOver()
        let opened = Box(false)
        let opening = Task.detached {
            defer { opened.value = true }
            return try vault.open(machine: "short")
        }
        // The other one that has stayed, and the one that has come.
        let reports = #"SELECT count(*) FROM "process" WHERE "settledTimeline" IS NOT NULL"#
        try await eventually { (try? vault.sql(reports).integer(0, 0)) == 2 || opened.value }
        let wasFirst = opened.value
        way.admit()
        let short = try await opening.value
        let found = try await short.login(login)
        let outcome = try await cluster.outcome()["outcome"]
        await short.shutDown()
        await living.shutDown()
        #expect(!wasFirst)
        #expect(!found.isHeld && found.session.label == "acknowledged")
        #expect(outcome == "whole")
    }

    /// The first change of all that a process makes is lost, and with it the word that it changes anything. The process comes
    /// back later than another one that misses nothing.
    @Test func whoeverMayHaveChangedSomethingIsWaitedFor() async throws {
        let cluster = try Cluster(timeouts: ServerVault.longTimeouts)
        let vault = cluster.vault
        let (late, way) = try cluster.open(machine: "late")
        let login = try await cluster.store.insertLogin(vault.draft("alice")).handle
        _ = try await late.login(login)
        let timeline = #"SELECT "timeline" FROM "engineState""#
        let before = try vault.sql(timeline).integer(0, 0)
        try await cluster.detach()
        way.refuse()
        try await late.updateLogin(login) { $0.session.label = "acknowledged" }
        try cluster.primary.stop()
        try cluster.standby.promote()
        let first = Task.detached { try await cluster.goOn { _ = try await cluster.store.write { _ in } } }
        let reports = #"SELECT count(*) FROM "process" WHERE "settledTimeline" IS NOT NULL"#
        try await eventually {
            (try? vault.sql(reports).integer(0, 0)) == 1
                || (try? vault.sql(timeline).integer(0, 0)).map { $0 != before } ?? false
        }
        way.admit()
        try await first.value
        try await cluster.goOn { _ = try await late.write { _ in } }
        let found = try await late.login(login)
        let outcome = try await cluster.outcome()
        await late.shutDown()
        #expect(!found.isHeld && found.session.label == "acknowledged")
        #expect(outcome["outcome"] == "whole")
    }

    /// Its row is still there on the standby, and nothing is missing that it could know.
    @Test func nobodyWaitsForAProcessThatHasOnlyRead() async throws {
        let cluster = try Cluster()
        let login = try await cluster.store.insertLogin(cluster.vault.draft("alice")).handle
        let reader = try cluster.vault.open(machine: "reader")
        _ = try await reader.login(login)
        // Nor does it change anything by looking at the server's history.
        let changes = try cluster.vault.changeCount()
        let look = TimelineCheck()
        reader.writer.submit(look)
        try look.wait()
        #expect(try cluster.vault.changeCount() == changes)
        #expect(try cluster.vault.hasChanged(reader.owner) == false)
        #expect(try cluster.vault.hasChanged(cluster.store.owner) == true)
        try await cluster.detach()
        await reader.shutDown()
        #expect(try cluster.vault.hasChanged(reader.owner) == nil)
        #expect(try await !cluster.failOverAndGoOn(login))
        #expect(try await cluster.outcome()["outcome"] == "whole")
    }
}
