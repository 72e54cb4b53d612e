import CSQLite
import Foundation
import Synchronization
import Testing
import VaultCrypto

@testable import VaultSQLite
@testable import VaultStorage

struct GroupCommitTests {
    struct Refusal: Error, Equatable {}

    @Test func concurrentWritersShareCommitsAndAllAreDurable() async throws {
        let fixture = try VaultFixture()
        let store = try fixture.create()
        let before = store.commitCount
        let writers = 200
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<writers {
                group.addTask { _ = try await store.insertLogin(fixture.draft("user-\(number)")) }
            }
            try await group.waitForAll()
        }
        let commits = store.commitCount - before
        print("group commit: \(writers) writers, \(commits) commits")
        #expect(commits < writers)
        store.close()
        let reopened = try fixture.open()
        for number in 0..<writers { _ = try await reopened.session(.user("user-\(number)")) }
        #expect(try await reopened.verify().findings == [])
    }

    /// Observers hear of a commit before whoever waited for it goes on.
    @Test func aCommitThatReturnedHasBeenTold() async throws {
        let fixture = try VaultFixture()
        let store = try fixture.create()
        let login = try await store.insertLogin(fixture.draft("alice"))
        let told = Mutex(0)
        let token = store.changes.observe { _ in told.withLock { $0 += 1 } }
        for number in 1...300 {
            try await store.updateLogin(login.handle) { $0.session.attempts += 1 }
            #expect(told.withLock { $0 } == number)
        }
        store.changes.cancel(token)
    }

    @Test func oneFailingOperationDoesNotHurtItsNeighbours() async throws {
        let fixture = try VaultFixture()
        let store = try fixture.create()
        let login = try await store.insertLogin(fixture.draft("alice"))
        let failures = await withTaskGroup(of: Bool.self) { group in
            for number in 0..<100 {
                group.addTask {
                    do {
                        try await store.updateLogin(login.handle) { state in
                            state.session.attempts += 1
                            state.auditEvents = [AuditEvent(.renewalFailed)]
                            if number.isMultiple(of: 3) { throw Refusal() }
                        }
                        return false
                    } catch {
                        return error is Refusal
                    }
                }
            }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(failures == 34)
        #expect(try await store.login(login.handle).session.attempts == 66)
        #expect(try await store.auditEntries(after: 0, limit: 1000).count == 2 + 66)
        #expect(try await store.verify().findings == [])
    }

    @Test func halfFailedOperationIsUndoneWithinItsBatch() async throws {
        let fixture = try VaultFixture()
        let store = try fixture.create()
        let commits = store.commitCount
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<40 {
                group.addTask {
                    _ = try? await store.write { transaction in
                        _ = try transaction.insertLogin(fixture.draft("user-\(number)"))
                        if number.isMultiple(of: 2) { throw Refusal() }
                    }
                }
            }
        }
        #expect(store.commitCount - commits < 40)
        #expect(try await store.statistics().users == 20)
        #expect(try await store.statistics().logins == 20)
        #expect(try await store.verify().findings == [])
    }

    /// One that is alone in its transaction has no savepoint.
    @Test func anOperationThatFailsHalfwayAndAloneIsUndone() async throws {
        let fixture = try VaultFixture()
        let store = try fixture.create()
        for number in 0..<6 {
            let inserting: @Sendable (WriteTransaction) throws -> Void = { transaction in
                _ = try transaction.insertLogin(fixture.draft("user-\(number)"))
                if number.isMultiple(of: 2) { throw Refusal() }
            }
            if number.isMultiple(of: 2) {
                await #expect(throws: Refusal.self) { try await store.write(inserting) }
            } else {
                try await store.write(inserting)
            }
        }
        #expect(try await store.statistics().users == 3)
        #expect(try await store.auditEntries(after: 0, limit: 100).count == 1 + 3)
        #expect(try await store.verify().findings == [])
    }

    /// What begins each transaction is not read again while nobody else has written: here somebody has, each time.
    @Test func commitsOfOthersAreSeenBetweenTwoCommits() async throws {
        let fixture = try VaultFixture()
        let stores = [try fixture.create(), try fixture.open()]
        let logins = [
            try await stores[0].insertLogin(fixture.draft("alice")).handle,
            try await stores[0].insertLogin(fixture.draft("bob")).handle,
        ]
        var fences: [Int64] = []
        for number in 0..<60 {
            // Two in a row by each, then the other.
            let store = stores[number / 2 % 2]
            fences.append(
                try await store.updateLogin(logins[number % 2]) { state in
                    state.session.attempts += 1
                    return state.openIntent(owner: store.owner, at: Timestamp(milliseconds: 1)).fence
                })
        }
        #expect(zip(fences, fences.dropFirst()).allSatisfy { $0 < $1 }, "\(fences)")
        #expect(try await stores[0].verify().findings == [])
        #expect(try await stores[1].auditEntries(after: 0, limit: 1_000).count >= 63)
        for login in logins { #expect(try await stores[1].login(login).session.attempts == 30) }
    }

    @Test func twoStoresOnOneFileTakeTurns() async throws {
        let fixture = try VaultFixture()
        let first = try fixture.create()
        let second = try fixture.open()
        #expect(first.owner != second.owner)
        #expect(second.isOwnerAlive(first.owner))
        let login = try await first.insertLogin(fixture.draft("alice"))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<60 {
                let store = number.isMultiple(of: 2) ? first : second
                group.addTask { try await store.updateLogin(login.handle) { $0.session.attempts += 1 } }
                group.addTask { _ = try await store.session(.user("alice")) }
            }
            try await group.waitForAll()
        }
        #expect(try await first.login(login.handle).session.attempts == 60)
        #expect(try await second.verify().findings == [])
    }

    @Test func busyIsToldAsBusyAndNothingIsWritten() async throws {
        let fixture = try VaultFixture()
        let store = try fixture.create()
        let login = try await store.insertLogin(fixture.draft("alice"))
        let holder = try Connection(path: fixture.path)
        try holder.execute("BEGIN IMMEDIATE")
        let start = ContinuousClock.now
        let error = await #expect(throws: StoreError.self) {
            try await store.updateLogin(login.handle) { $0.session.label = "x" }
        }
        #expect(error?.code == .busy)
        #expect(ContinuousClock.now - start >= .seconds(5))
        #expect(try await store.session(.user("alice")).session == login.session)
        try holder.execute("ROLLBACK")
        try await store.updateLogin(login.handle) { $0.session.label = "x" }
    }

    @Test func walIsBoundedAndCheckpointsBlockNoReaders() async throws {
        let fixture = try VaultFixture()
        let store = try fixture.create()
        let login = try await store.insertLogin(fixture.draft("alice"))
        let reader = Task.detached {
            var count = 0
            while !Task.isCancelled {
                _ = try await store.session(.user("alice"))
                count += 1
                // A read does not suspend, and the threads for tasks are few.
                await Task.yield()
            }
            return count
        }
        for _ in 0..<400 { try await store.updateLogin(login.handle) { $0.session.attempts += 1 } }
        reader.cancel()
        #expect(try await reader.value > 0)
        let pages = try walPages(fixture)
        for _ in 0..<400 { try await store.updateLogin(login.handle) { $0.session.attempts += 1 } }
        let later = try walPages(fixture)
        print("WAL after 400 updates beside a reader: \(pages) pages, after 400 more: \(later)")
        #expect(later < pages + 2 * Int(CheckpointSchedule.threshold))
        #expect(try await store.login(login.handle).session.attempts == 800)
    }

    private func walPages(_ fixture: VaultFixture) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: fixture.path + "-wal")
        return try #require(attributes[.size] as? Int) / 4120
    }

    /// A checkpoint waits for the write lock of a sibling; while somebody else writes there is none.
    @Test func noCheckpointRunsWithoutTheGate() throws {
        let fixture = try VaultFixture()
        _ = try fixture.create()
        let writer = try Connection(path: fixture.path)
        try writer.configure()
        let gate = CheckpointGate(path: fixture.path, writer: writer)
        let other = try Connection(path: fixture.path)
        try other.execute("BEGIN IMMEDIATE")
        #expect(gate.checkpoint() == .incomplete)
        try other.execute("ROLLBACK")
        #expect(gate.checkpoint() == .restartable)
    }

    @Test func aVaultThatFallsBehindThisProcessIsNotWritten() async throws {
        let fixture = try VaultFixture()
        let store = try fixture.create()
        let login = try await store.insertLogin(fixture.draft("alice"))
        try await store.updateLogin(login.handle) { $0.session.label = "new" }
        try fixture.edit("DELETE FROM audit WHERE sequence = (SELECT max(sequence) FROM audit)")
        let error = await #expect(throws: StoreError.self) {
            try await store.updateLogin(login.handle) { $0.session.label = "newer" }
        }
        #expect(error?.code == .rollbackSuspected)
    }
}
