import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing
import VaultCrypto

@testable import VaultSQLite
@testable import VaultStorage

/// Rows that a store keeps in memory, sealed, as long as they are the newest.
struct RowCacheTests {
    private struct Open {
        let fixture: VaultFixture
        let store: SQLiteVaultStore
        let alice: LoginHandle
        let bob: LoginHandle

        init(cachedLogins: Int = SQLiteVaultStore.cachedLogins) async throws {
            fixture = try VaultFixture()
            try fixture.create().close()
            store = try fixture.open(cachedLogins: cachedLogins)
            alice = try await store.insertLogin(fixture.draft("alice")).handle
            bob = try await store.insertLogin(fixture.draft("bob")).handle
        }

        /// Reads it until it comes from memory: the first time it is only noted, the second time kept.
        func keep(_ selectors: LoginSelector...) async throws {
            for selector in selectors {
                var tries = 0
                while try await !read(selector).isFromMemory {
                    tries += 1
                    try #require(tries < 10)
                }
            }
        }

        var served: Int { store.readers.cache?.servedCount ?? -1 }

        /// Reads a login, and says whether it came from memory.
        func read(_ selector: LoginSelector) async throws -> (attempts: Int64, isFromMemory: Bool) {
            let before = served
            let session = try await store.session(selector).session
            return (Int64(session.attempts), served > before)
        }
    }

    private static func change(_ login: LoginHandle, in store: SQLiteVaultStore) async throws {
        try await store.updateLogin(login) { $0.session.attempts += 1 }
    }

    @Test func aLoginIsReadOnceAsLongAsNothingChanges() async throws {
        let open = try await Open()
        for selector in [LoginSelector.user("alice"), .login(open.alice), .login(open.alice, ofUsers: "alice")] {
            try await open.keep(selector)
            for _ in 0..<3 { #expect(try await open.read(selector) == (0, true)) }
        }
    }

    @Test func aChangeIsSeenAtOnceWhoeverMakesIt() async throws {
        let open = try await Open()
        let other = try open.fixture.open()
        defer { other.close() }
        var expected: Int64 = 0
        for writer in [open.store, other, other, open.store, open.store, other] {
            try await open.keep(.user("alice"), .login(open.alice))
            try await Self.change(open.alice, in: writer)
            expected += 1
            #expect(try await open.read(.user("alice")).attempts == expected)
            #expect(try await open.read(.login(open.alice)).attempts == expected)
        }
        #expect(Probe.visit(open.fixture, open.alice) == 0)
        #expect(try await open.read(.user("alice")).attempts > expected)
    }

    @Test func aChangeOfOneUserLeavesTheOthersInMemory() async throws {
        let open = try await Open()
        try await open.keep(.user("alice"), .user("bob"))
        try await Self.change(open.bob, in: open.store)
        #expect(try await open.read(.user("alice")) == (0, true))
        #expect(try await open.read(.user("bob")) == (1, false))
        #expect(try await open.read(.user("bob")) == (1, true))
    }

    @Test func aCommitThatTheTrailDoesNotKnowEmptiesTheMemory() async throws {
        let open = try await Open()
        try await open.keep(.user("alice"))
        try open.fixture.edit("UPDATE login SET cell = randomblob(length(cell)) WHERE id = 1")
        let error = await #expect(throws: StoreError.self) { _ = try await open.store.session(.user("alice")) }
        guard case .quarantined = error?.code else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test func theEndOfAUserIsSeen() async throws {
        let open = try await Open()
        try await open.keep(.user("alice"))
        try await open.store.updateUser("alice") { $0.status = .disabled }
        #expect(try await open.store.session(.user("alice")).userStatus == .disabled)
        try await open.store.updateUser("alice") { $0.isErased = true }
        await #expect(throws: StoreError.notFound(.user)) { _ = try await open.store.session(.user("alice")) }
        await #expect(throws: StoreError.notFound(.login)) { _ = try await open.store.session(.login(open.alice)) }
    }

    /// A snapshot is of one moment, and the memory of another.
    @Test func aSnapshotIsReadFromTheDatabase() async throws {
        let open = try await Open()
        let other = try open.fixture.open()
        defer { other.close() }
        try await open.keep(.user("alice"))
        try await open.keep(.login(open.alice), .login(open.bob))
        let before = open.served
        try open.store.readers.read { reader throws(StoreError) in
            try reader.withSnapshot { () throws(StoreError) in
                _ = try reader.session(ofLogin: open.alice)
                _ = try reader.session(ofLogin: open.bob)
            }
        }
        #expect(open.served == before)
    }

    /// A query that is under way holds a snapshot, and what the same connection reads then is of that moment.
    @Test func whatAnOlderSnapshotShowsIsNotKept() async throws {
        let open = try await Open()
        let (fixture, store) = (open.fixture, open.store)
        let other = try fixture.open()
        defer { other.close() }
        // Asked for before, so that it is kept the next time.
        _ = try await open.read(.login(open.alice))
        let (gate, isHeld) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let hasRead = DispatchSemaphore(value: 0)
        // On a thread of its own: those for tasks are few.
        Thread.detachNewThread {
            _ = try? store.readers.read { reader throws(StoreError) in
                let row = try reader.tables.cursor(.userPage)
                row.bind(1, Bytes16.zero)
                row.bind(2, Int64(10))
                defer { row.reset() }
                _ = try row.step()
                isHeld.signal()
                gate.wait()
                return try reader.session(ofLogin: open.alice).session.attempts
            }
            hasRead.signal()
        }
        await Self.wait(for: isHeld)
        try await Self.change(open.alice, in: other)
        // So that the store knows the newest commit.
        try await open.keep(.user("bob"))
        gate.signal()
        await Self.wait(for: hasRead)
        try await open.keep(.login(open.alice))
        #expect(try await open.read(.login(open.alice)) == (1, true))
    }

    @Test(arguments: ["", "-wal", "-shm"])
    func aFileThatIsNotTheVaultsEndsIt(suffix: String) async throws {
        let open = try await Open()
        try await open.keep(.user("alice"))
        let (path, kept) = (open.fixture.path + suffix, open.fixture.path + "-kept")
        #expect(unsafe rename(path, kept) == 0)
        try FileManager.default.copyItem(atPath: kept, toPath: path)
        try await eventually { try await !open.read(.user("alice")).isFromMemory }
        #expect(unsafe rename(kept, path) == 0)
        try await eventually { try await open.read(.user("alice")).isFromMemory }
    }

    /// The cell of the user is opened once, those with tokens at each read.
    @Test func theCellOfAUserStaysOpenWhileItsRowIsInMemory() async throws {
        let open = try await Open()
        let cache = try #require(open.store.readers.cache)
        try await open.keep(.user("alice"), .login(open.alice))
        #expect(cache.openUserCellCount == 2)
        try await open.store.updateUser("alice") { $0.status = .disabled }
        #expect(try await open.store.session(.user("alice")).userStatus == .disabled)
        try await open.keep(.user("alice"))
        #expect(try await open.store.session(.user("alice")).userStatus == .disabled)
        cache.removeAll()
        #expect(cache.openUserCellCount == 0)
    }

    @Test func aKeyIsReadOnceAsLongAsNothingChanges() async throws {
        let open = try await Open()
        let (old, new) = (
            KeyRecord(dpopPrivateKey: SecretBytes(utf8: "old")), KeyRecord(dpopPrivateKey: SecretBytes(utf8: "new"))
        )
        try await open.store.updateLogin(open.alice) { $0.key = old }
        var before = open.served
        for _ in 0..<4 { #expect(try await open.store.session(.login(open.alice), withKey: true).key == old) }
        #expect(open.served > before)
        try await open.store.updateLogin(open.alice) { $0.key = new }
        #expect(try await open.store.session(.login(open.alice), withKey: true).key == new)
        try await open.store.updateLogin(open.alice) { $0.key = nil }
        before = open.served
        for _ in 0..<4 { #expect(try await open.store.session(.login(open.alice), withKey: true).key == nil) }
        #expect(open.served > before)
    }

    @Test func eachProviderOfAUserHasRowsOfItsOwn() async throws {
        let open = try await Open()
        var logins: [(provider: ProviderHandle, login: LoginHandle)] = []
        for name in ["acme", "globex", "initech"] {
            let provider = try await open.store.putProvider(.sample(name, at: open.fixture.now), replacing: nil).handle
            let draft = open.fixture.draft("carol", "carol-\(name)", provider: provider)
            logins.append((provider, try await open.store.insertLogin(draft).handle))
        }
        var changes: Int64 = 0
        for withKey in [false, true] {
            for _ in 0..<2 {
                let before = open.served
                for _ in 0..<4 {
                    for (provider, login) in logins {
                        let found = try await open.store.session(ofUser: "carol", at: provider, withKey: withKey)
                        #expect(found?.login == login && found?.provider == provider)
                        #expect(found.map { Int64($0.session.attempts) } == (login == logins[1].login ? changes : 0))
                    }
                }
                #expect(open.served >= before + 3)
                try await Self.change(logins[1].login, in: open.store)
                changes += 1
            }
        }
    }

    @Test func aClosedStoreGivesNothing() async throws {
        let open = try await Open()
        let cache = try #require(open.store.readers.cache)
        try await open.keep(.user("alice"))
        open.store.close()
        #expect(cache.count == 0)
        await #expect(throws: StoreError.closed) { _ = try await open.store.session(.user("alice")) }
    }

    @Test func itHoldsNoMoreThanItMay() async throws {
        let open = try await Open(cachedLogins: 8)
        for number in 0..<40 { _ = try await open.store.insertLogin(open.fixture.draft("user-\(number)")) }
        for number in 0..<40 { try await open.keep(.user("user-\(number)")) }
        let cache = try #require(open.store.readers.cache)
        #expect(cache.count == 8)
        #expect(try await open.read(.user("user-39")).isFromMemory)
        var found = 0
        for number in 0..<40 where try await open.read(.user("user-\(number)")).isFromMemory { found += 1 }
        #expect((1...8).contains(found))
        let none = try await Open(cachedLogins: 0)
        #expect(none.store.readers.cache == nil)
        #expect(try await none.read(.user("alice")).attempts == 0)
    }

    @Test func aUserWithManyLoginsIsReadFromTheDatabase() async throws {
        let open = try await Open()
        var logins: [LoginHandle] = []
        for number in 0..<8 {
            logins.append(try await open.store.insertLogin(open.fixture.draft("many", "m\(number)")).handle)
        }
        for login in logins + logins {
            let session = try await open.store.session(.login(login, ofUsers: "many"))
            #expect(session.login == login)
        }
        try await Self.change(logins[3], in: open.store)
        #expect(try await open.store.session(.login(logins[3], ofUsers: "many")).session.attempts == 1)
    }

    /// Two stores at one file: one changes logins, the other reads them, and no reader sees less than what was acknowledged
    /// when it asked.
    @Test func nothingOlderThanTheLastAcknowledgedChangeIsServed() async throws {
        let open = try await Open()
        let writer = try open.fixture.open()
        defer { writer.close() }
        var logins: [LoginHandle] = []
        for number in 0..<8 { logins.append(try await writer.insertLogin(open.fixture.draft("user-\(number)")).handle) }
        let acknowledged = (0..<8).map { _ in Counter() }
        let rounds = Depth.pick(brief: 150, nightly: 1_500, deep: 60_000)
        let stop = Flag()
        let targets = logins
        let counts = try await withThrowingTaskGroup(of: (reads: Int, stale: Int).self) { group in
            for reader in 0..<3 {
                group.addTask {
                    var (reads, stale) = (0, 0)
                    while !stop.isSet {
                        let number = (reads &* 5 &+ reader) % 8
                        let floor = acknowledged[number].value
                        let selector: LoginSelector = reads % 2 == 0 ? .login(targets[number]) : .user("user-\(number)")
                        if Int(try await open.store.session(selector).session.attempts) < floor { stale += 1 }
                        reads += 1
                        // A read does not suspend, and the threads for tasks are few.
                        await Task.yield()
                    }
                    return (reads, stale)
                }
            }
            defer { stop.set() }
            for round in 0..<rounds {
                let number = round % 8
                try await Self.change(targets[number], in: round % 3 == 0 ? open.store : writer)
                acknowledged[number].add()
                // Bursts, and times in which the memory is of use, however slowly the readers get to it.
                guard round % 10 == 9 else { continue }
                let served = open.served
                try await eventually { open.served > served }
            }
            stop.set()
            var all = (reads: 0, stale: 0)
            for try await one in group { all = (all.reads + one.reads, all.stale + one.stale) }
            return all
        }
        #expect(counts.stale == 0)
        print(
            "rows in memory: \(counts.reads) reads beside \(rounds) changes, \(open.served) from memory, \(counts.stale) stale"
        )
        #expect(open.served >= rounds / 10)
    }

    /// The same with processes that change them, some of which die between any two steps of a commit.
    @Test func nothingOlderIsServedBesideProcessesThatDie() async throws {
        let open = try await Open()
        let (store, path) = (open.store, open.fixture.path + "-counters")
        var logins: [LoginHandle] = []
        for number in 0..<16 { logins.append(try await store.insertLogin(open.fixture.draft("user-\(number)")).handle) }
        let acknowledged = try SharedCounters(path, count: 16)
        let (targets, fixture) = (logins, open.fixture)
        let wanted = Depth.pick(brief: 30_000, nightly: 500_000, deep: 10_000_000)
        let stop = Flag()
        let readers = Task {
            defer { stop.set() }
            return try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<2 {
                    group.addTask {
                        var (reads, stale) = (0, 0)
                        // On a busy machine commits may come faster than two reads of a login.
                        while reads < wanted / 2 || open.served == 0 && reads < 10 * wanted {
                            let number = Int.random(in: 0..<16)
                            let floor = acknowledged[number]
                            let selector: LoginSelector =
                                Bool.random() ? .login(targets[number]) : .user("user-\(number)")
                            if Int(try await store.session(selector).session.attempts) < floor { stale += 1 }
                            reads += 1
                            await Task.yield()
                        }
                        return stale
                    }
                }
                return try await group.reduce(0, +)
            }
        }
        let kills = try await withThrowingTaskGroup(of: Int.self) { group in
            for first in [0, 8] {
                group.addTask {
                    var kills = 0
                    repeat {
                        let handles = targets[first..<first + 8].map(\.text)
                        let before = (first..<first + 8).map { acknowledged[$0] }
                        let probe = try Probe(["change", fixture.path, fixture.keyFile, path, "\(first)"] + handles)
                        try await eventually { (first..<first + 8).map { acknowledged[$0] } != before }
                        try? await Task.sleep(for: .milliseconds(Int.random(in: 50...1_500)))
                        _ = probe.kill()
                        kills += 1
                    } while !stop.isSet
                    return kills
                }
            }
            return try await group.reduce(0, +)
        }
        let stale = try await readers.value
        let changes = (0..<16).reduce(0) { $0 + acknowledged[$1] }
        #expect(stale == 0)
        #expect(changes > 0)
        #expect(open.served > 0)
        print(
            "rows in memory: \(wanted) reads, \(open.served) from memory, beside \(changes) changes of processes, of "
                + "which \(kills) were killed: \(stale) stale")
    }

    private static func wait(for semaphore: DispatchSemaphore) async {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                semaphore.wait()
                continuation.resume()
            }
        }
    }
}

extension Probe {
    /// Has another process change a login once.
    fileprivate static func visit(_ fixture: VaultFixture, _ login: LoginHandle) -> Int32 {
        (try? Probe(fixture, visits: login, "close"))?.wait() ?? -1
    }
}
