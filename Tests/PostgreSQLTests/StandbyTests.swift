import Synchronization
import TestSupport
import Testing
import VaultAdministration
import VaultCrypto

@testable import VaultPostgreSQL
@testable import VaultStorage

/// A server with a synchronous standby: what one of them alone has is not durable.
struct StandbyTests {
    @Test func aStandbyIsRefusedUnlessThePrimaryIsNamedToo() async throws {
        let vault = try ServerVault(PostgreSQLServer())
        let standby = try PostgreSQLServer(standbyOf: vault.server)
        let login = try await vault.store.insertLogin(vault.draft("alice")).handle
        let schema = vault.address.schema
        let error = #expect(throws: StoreError.self) {
            try vault.open(at: ServerAddress(standby.address(schema: schema)))
        }
        #expect(error?.code == .busy)
        #expect(error?.message.contains("standby") == true)
        #expect(error?.hint?.contains("all hosts") == true)
        let store = try vault.open(at: ServerAddress(standby.address(schema: schema, or: vault.server)))
        try await store.updateLogin(login) { $0.session.label = "by the primary" }
        #expect(try await vault.store.login(login).session.label == "by the primary")
        await store.shutDown()
    }

    @Test func aCommitWaitsForTheStandby() async throws {
        let scene = try await Scene()
        try scene.standby.stop()
        let start = ContinuousClock.now
        let change = scene.change("waited")
        try await eventually { try scene.waitingCommits == 1 }
        #expect(!scene.isAnswered)
        #expect(try await scene.label == nil)
        try scene.standby.start()
        try await change.value
        // On a machine that needs longer than the client waits, the outcome is settled instead.
        let isInTime = start.duration(to: .now) < ServerConnection.timeLimit
        #expect(try await scene.label == "waited")
        if isInTime { #expect(try await scene.settledCommits == 0) }
        #expect(try await scene.vault.store.verify().findings == [])
    }

    /// The server answers `COMMIT` with a warning then. It has committed, and no standby has: that is not enough.
    @Test func aCommitWhoseWaitIsCancelledIsNotYetDurable() async throws {
        let scene = try await Scene()
        try scene.standby.stop()
        let change = scene.change("cancelled")
        try await eventually { try scene.waitingCommits == 1 }
        try scene.vault.sql("SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
        // Others can see it now, and the process that made it is still not answered: what records it waits as well.
        try await eventually { try scene.waitingSessions.subtracting(scene.firstSession) != [] }
        #expect(try await scene.label == "cancelled")
        #expect(!scene.isAnswered)
        try scene.standby.start()
        try await change.value
        #expect(try await scene.label == "cancelled")
        #expect(try await scene.isSettled)
        #expect(try await scene.vault.store.verify().findings == [])
    }

    /// A deadline of the client's own ends the wait: the server's time-outs do not.
    @Test func outcomeIsSettledWhenTheStandbyReturnsLate() async throws {
        let scene = try await Scene()
        try scene.standby.stop()
        let change = scene.change("late")
        try await eventually { try scene.waitingCommits == 1 }
        // By then, the client has given the first connection up, and records the outcome on another one. That another
        // one waits is not enough: others commit as well.
        try await Task.sleep(for: ServerConnection.timeLimit + .seconds(2))
        try await eventually { try !scene.waitingSessions.isSubset(of: scene.firstSession) }
        #expect(!scene.isAnswered)
        try scene.standby.start()
        try await change.value
        #expect(try await scene.label == "late")
        #expect(try await scene.isSettled)
        #expect(try await scene.vault.store.verify().findings == [])
    }

    /// Without a standby for long, callers are told so, and nothing hangs. What was committed is there afterwards.
    @Test(.enabled(if: Depth.current == .deep)) func withoutAStandbyCallsEnd() async throws {
        let scene = try await Scene()
        try scene.standby.stop()
        let start = ContinuousClock.now
        await #expect { try await scene.change("unknown").value } throws: { ($0 as? StoreError)?.code == .busy }
        let took = start.duration(to: .now)
        print("without a standby a change is given up after \(took)")
        #expect(took < .seconds(90))
        try scene.standby.start()
        try await scene.change("after").value
        #expect(try await scene.label == "after")
        #expect(try await scene.vault.store.verify().findings == [])
    }

    /// A vault with one login, on a server that has a standby.
    private final class Scene: Sendable {
        let vault: ServerVault
        let standby: PostgreSQLServer
        let login: LoginHandle
        private let answered = Mutex(false)
        private let first = Mutex<Set<Int64>>([])

        init() async throws {
            let vault = try ServerVault(PostgreSQLServer())
            self.vault = vault
            standby = try PostgreSQLServer(standbyOf: vault.server)
            try await vault.demandStandby()
            login = try await vault.store.insertLogin(vault.draft("alice")).handle
        }

        func change(_ label: String) -> Task<Void, any Error> {
            Task {
                defer { answered.withLock { $0 = true } }
                try await vault.store.updateLogin(login) { $0.session.label = label }
            }
        }

        var isAnswered: Bool { answered.withLock { $0 } }
        var label: String? { get async throws { try await vault.store.login(login).session.label } }

        /// Sessions whose commit waits for the standby.
        var waitingSessions: Set<Int64> {
            get throws {
                let answer = try vault.sql("SELECT pid::int8 FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
                return Set((0..<answer.rowCount).map { answer.integer($0, 0) })
            }
        }

        var waitingCommits: Int {
            get throws {
                let sessions = try waitingSessions
                first.withLock { if $0.isEmpty { $0 = sessions } }
                return sessions.count
            }
        }

        /// The sessions that waited first.
        var firstSession: Set<Int64> { first.withLock { $0 } }

        /// Whether the outcome is recorded. It is recorded again if the record's own commit waits for so long that its
        /// answer does not come either, as when the standby takes its time to start.
        var isSettled: Bool { get async throws { try await settledCommits > 0 } }

        var settledCommits: Int {
            get async throws {
                try await vault.store.auditEntries(after: 0, limit: 1_000)
                    .count { entry in
                        entry.kind == .commitSettled
                            && entry.detail.contains { $0.key == "outcome" && $0.value == "durable" }
                    }
            }
        }
    }
}
