import Foundation
import TestSupport
import Testing
import VaultAdministration
import VaultCrypto

@testable import VaultPostgreSQL
@testable import VaultStorage

/// A standby takes the primary's place, and has not received everything that was acknowledged.
struct FailoverTests {
    @Test func aStandbyThatHasEverythingIsGoneOnWith() async throws {
        let cluster = try Cluster()
        let login = try await cluster.store.insertLogin(cluster.vault.draft("alice")).handle
        try await cluster.store.updateLogin(login) { $0.session.label = "before" }
        try await cluster.catchUp()
        try cluster.failOver()
        try await cluster.goOn { try await cluster.store.updateLogin(login) { $0.session.label = "after" } }
        #expect(try await cluster.store.login(login).session.label == "after")
        #expect(try await !cluster.store.login(login).isHeld)
        let outcome = try await cluster.outcome()
        #expect(outcome == ["from": "1", "to": "2", "cluster": "same", "redone": "0", "outcome": "whole"])
        #expect(try await cluster.store.verify().findings == [])
        try await eventually { cluster.store.ownsItsLock }
    }

    /// Every row comes back as it was: those of new, changed, and erased ones.
    @Test func whatWasLostIsDoneAgain() async throws {
        let cluster = try Cluster()
        let store = cluster.store
        _ = try await store.insertLogin(cluster.vault.draft("erased"))
        let login = try await store.insertLogin(cluster.vault.draft("alice")).handle
        try await cluster.detach()
        for number in 0..<20 {
            _ = try await store.insertLogin(cluster.vault.draft("user \(number)"))
            try await store.updateLogin(login) { $0.session.label = "change \(number)" }
        }
        await #expect(throws: StoreError.self) { try await store.updateLogin(LoginHandle(.zero)) { _ in } }
        try await store.updateUser("erased") { $0.isErased = true }
        let before = try cluster.content()
        try cluster.failOver()
        #expect(try cluster.content() != before)
        try await cluster.goOn { _ = try await store.write { _ in } }
        let after = try cluster.content().filter { !$0.hasPrefix("audit ") }
        #expect(after == before.filter { !$0.hasPrefix("audit ") })
        #expect(try await store.login(login).session.label == "change 19")
        #expect(try await !store.login(login).isHeld)
        let outcome = try await cluster.outcome()
        #expect(outcome["outcome"] == "whole" && Int(outcome["redone"] ?? "") ?? 0 >= 42)
        #expect(try await store.verify().findings == [])
    }

    /// Each remembers its own commits, which came in turn.
    @Test func processesDoAgainTogetherWhatTheyDidInTurn() async throws {
        let cluster = try Cluster()
        let stores = try [cluster.store, cluster.vault.open(machine: "second"), cluster.vault.open(machine: "third")]
        let login = try await cluster.store.insertLogin(cluster.vault.draft("alice")).handle
        try await cluster.detach()
        for number in 0..<30 {
            try await stores[number % 3].updateLogin(login) { $0.session.label = "change \(number)" }
        }
        try cluster.failOver()
        // Reading alone is enough: whoever meets the new server sees to it.
        try await cluster.goOn { _ = try await stores[1].login(login) }
        for store in stores {
            try await cluster.goOn {
                try #require(try await store.login(login).session.label == "change 29")
            }
        }
        try await cluster.goOn { try await stores[2].updateLogin(login) { $0.session.label = "after" } }
        #expect(try await cluster.store.login(login).session.label == "after")
        #expect(try await !cluster.store.login(login).isHeld)
        #expect(try await cluster.store.verify().findings == [])
    }

    /// If a process does not come back, the refresh tokens that it has spent are not known.
    @Test func whatNobodyRemembersHoldsAllLogins() async throws {
        let cluster = try Cluster()
        let other = try cluster.vault.open(machine: "second")
        let login = try await cluster.store.insertLogin(cluster.vault.draft("alice")).handle
        try await other.updateLogin(login) { $0.session.label = "before" }
        try cluster.leaveGhost()
        try await cluster.detach()
        let ghost = ServerWriteBatch(cluster.vault.address, cluster.store.context, .unknown)
        ghost.perform([TestedOperation.relabel(login, "of the ghost")], committed: { _ in })
        ghost.close()
        try await cluster.store.updateLogin(login) { $0.session.label = "after the ghost" }
        try cluster.failOver()
        try await cluster.goOn { _ = try await other.login(login) }
        try await cluster.goOn { _ = try await cluster.store.write { _ in } }
        for store in [cluster.store, other] {
            let found = try await store.login(login)
            #expect(found.session.label == "before" && found.isHeld)
            try await store.updateLogin(login) { $0.session.label = "before" }
        }
        #expect(try await cluster.outcome()["outcome"] == "lost")
        #expect(try await cluster.store.acceptRestored([login]) { _ in }.living == [login])
        #expect(try await !other.login(login).isHeld)
        #expect(try await cluster.store.verify().findings == [])
    }

    /// Nothing is missing that anybody knows of. But the standby may have missed something.
    @Test func whoDoesNotComeBackMayHaveCommitted() async throws {
        let cluster = try Cluster()
        let login = try await cluster.store.insertLogin(cluster.vault.draft("alice")).handle
        try cluster.leaveGhost()
        try await cluster.catchUp()
        try cluster.failOver()
        try await cluster.goOn { _ = try await cluster.store.write { _ in } }
        #expect(try await cluster.store.login(login).isHeld)
        #expect(try await cluster.outcome()["outcome"] == "lost")
    }

    /// Each commit had waited for the standby: whoever does not come back has lost nothing.
    @Test func synchronousStandbyLosesNoCommitOfAbsentProcesses() async throws {
        let cluster = try Cluster()
        try await cluster.vault.demandStandby()
        let login = try await cluster.store.insertLogin(cluster.vault.draft("alice")).handle
        try cluster.leaveGhost()
        try await cluster.store.updateLogin(login) { $0.session.label = "before" }
        try cluster.failOver()
        try await cluster.goOn { _ = try await cluster.store.write { _ in } }
        #expect(try await cluster.store.login(login).session.label == "before")
        #expect(try await !cluster.store.login(login).isHeld)
        #expect(try await cluster.outcome()["outcome"] == "whole")
    }

    /// Whoever has worked with the new primary changes nothing in the former one, though it takes changes.
    @Test func aFormerPrimaryThatStillRunsIsRefused() async throws {
        // The one is asked first that is still a standby.
        let cluster = try Cluster(asksStandbyFirst: true)
        let (vault, store) = (cluster.vault, cluster.store)
        let login = try await store.insertLogin(vault.draft("alice")).handle
        try await cluster.catchUp()
        let former = try ServerAddress(cluster.primary.address(schema: vault.address.schema))
        try cluster.standby.promote()
        let connection = try ServerConnection(former)
        try connection.send(
            Statement(
                """
                SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                WHERE application_name = 'tokenvault' AND pid <> pg_backend_pid()
                """))
        try connection.sync()
        try await cluster.goOn { try await store.updateLogin(login) { $0.session.label = "on the new one" } }
        try cluster.standby.stop()
        for _ in 0..<5 {
            await #expect {
                try await store.updateLogin(login) { $0.session.label = "on the former one" }
            } throws: {
                ($0 as? StoreError)?.code == .busy
            }
        }
        await #expect { _ = try await store.login(login) } throws: { ($0 as? StoreError)?.code == .busy }
        try await eventually { !store.ownsItsLock }
        #expect(store.lockLoss.code == .busy)
        try cluster.standby.start()
        try await cluster.goOn { try #require(try await store.login(login).session.label == "on the new one") }
        #expect(try await !store.login(login).isHeld)
    }

    /// The former primary still answers those who are connected, and only the session with the lock has ended.
    @Test func readersMoveToTheNewPrimaryToo() async throws {
        let cluster = try Cluster(asksStandbyFirst: true)
        let (vault, store) = (cluster.vault, cluster.store)
        let login = try await store.insertLogin(vault.draft("alice")).handle
        #expect(try await store.login(login).session.label != "on the new one")
        try await cluster.catchUp()
        let former = try ServerConnection(ServerAddress(cluster.primary.address(schema: vault.address.schema)))
        try cluster.standby.promote()
        try former.send(Statement("SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'"))
        try former.sync()
        // Asked of the new one.
        try await eventually { try vault.holdsLock(store.owner) }
        try await cluster.goOn { try await store.updateLogin(login) { $0.session.label = "on the new one" } }
        for _ in 0..<5 { #expect(try await store.login(login).session.label == "on the new one") }
    }

    /// No process is left that could know what is missing: as after a restore to an earlier moment.
    @Test func aHistoryThatNobodyRemembersHoldsAllLogins() async throws {
        let cluster = try Cluster()
        let login = try await cluster.store.insertLogin(cluster.vault.draft("alice")).handle
        await cluster.store.shutDown()
        try await cluster.catchUp()
        try cluster.failOver()
        let opened = try cluster.vault.open(machine: "later")
        #expect(try await opened.login(login).isHeld)
        // The next one finds it settled.
        let start = SuspendingClock.now
        let next = try cluster.vault.open(machine: "next", timeouts: ServerVault.longTimeouts)
        #expect(start.duration(to: .now) < ServerVault.longTimeouts.withWriters)
        #expect(try await next.login(login).isHeld)
        #expect(try await next.verify().findings == [])
    }

    /// As `pg_restore` puts it there.
    @Test func aVaultThatWasPutIntoAnotherClusterHoldsAllLogins() async throws {
        let vault = try ServerVault()
        let login = try await vault.store.insertLogin(vault.draft("alice")).handle
        await vault.store.shutDown()
        try vault.sql(#"UPDATE "engineState" SET "system" = 1"#)
        let opened = try vault.open()
        #expect(try await opened.login(login).isHeld)
        #expect(try await opened.acceptRestored([login]) { _ in }.living == [login])
        #expect(try await opened.verify().findings == [])
    }

    /// What is kept for the case of a failover has a limit, and forgets what is oldest.
    @Test func theMemoryOfCommitsHasALimit() {
        let memory = CommitMemory()
        let head = WriteTransaction.AuditHead(sequence: 0, mac: .genesis)
        func transaction(_ number: Int64) -> CommitMemory.Transaction {
            let parameters = Parameters([.bytes([UInt8](repeating: 0, count: 1 << 20))])
            return CommitMemory.Transaction(
                number: number, before: head, after: head,
                changes: [RecordedChange(statement: Statement("SELECT $1", [.bytes]), parameters: parameters)])
        }
        for number in 1...100 { memory.add(transaction(Int64(number))) }
        #expect(memory.transactions(after: 0, withDoubtful: false).isEmpty)
        let kept = memory.transactions(after: 90, withDoubtful: false)
        #expect(kept.map(\.number) == Array(91...100))
        // What came later than a gap follows on nothing.
        memory.add(transaction(102))
        #expect(memory.transactions(after: 90, withDoubtful: false).last?.number == 100)
        memory.doubtful = transaction(101)
        #expect(memory.transactions(after: 100, withDoubtful: true).map(\.number) == [101])
        let later = SuspendingClock.now + CommitMemory.longest * 3
        memory.add(transaction(103), at: later)
        #expect(memory.transactions(after: 90, withDoubtful: false).isEmpty)
    }
}
