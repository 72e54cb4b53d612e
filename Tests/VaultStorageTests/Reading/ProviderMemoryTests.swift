import TestSupport
import Testing

@testable import VaultSQLite
@testable import VaultStorage

/// A provider that was read before is the same as long as nothing but users and logins has changed.
struct ProviderMemoryTests {
    private struct Open {
        let fixture: VaultFixture
        let store: SQLiteVaultStore
        let other: SQLiteVaultStore
        let alice: LoginHandle
        let provider: ProviderHandle

        init(cachedLogins: Int = SQLiteVaultStore.cachedLogins) async throws {
            fixture = try VaultFixture()
            try fixture.create().close()
            store = try fixture.open(cachedLogins: cachedLogins)
            other = try fixture.open()
            provider = try await store.putProvider(.sample(at: fixture.now), replacing: nil).handle
            alice = try await store.insertLogin(fixture.draft("alice", provider: provider)).handle
        }

        /// Reads it until a mark vouches for it, which it then returns.
        func mark() async throws -> Int64 {
            var mark: Int64?
            var tries = 0
            while let read = try await store.provider(provider, changedSince: mark) {
                mark = read.mark
                tries += 1
                try #require(tries < 10)
            }
            return try #require(mark)
        }

        func change(_ scope: String, in store: SQLiteVaultStore) async throws {
            _ = try await store.updateProvider(provider) { record, _ in
                record.defaultScope = scope
                return []
            }
        }
    }

    @Test func aProviderThatNobodyChangedIsNotReadAgain() async throws {
        let open = try await Open()
        let mark = try await open.mark()
        for _ in 0..<3 { #expect(try await open.store.provider(open.provider, changedSince: mark) == nil) }
    }

    @Test func aChangeOfAnotherProcessIsSeenAtOnce() async throws {
        let open = try await Open()
        for (number, writer) in [open.store, open.other, open.other, open.store, open.other].enumerated() {
            let mark = try await open.mark()
            try await open.change("scope-\(number)", in: writer)
            let read = try await open.store.provider(open.provider, changedSince: mark)
            #expect(read?.provider.record.defaultScope == "scope-\(number)")
        }
    }

    @Test func changesOfLoginsLeaveIt() async throws {
        let open = try await Open()
        let mark = try await open.mark()
        for writer in [open.store, open.other] {
            try await writer.updateLogin(open.alice) { $0.session.attempts += 1 }
            try await writer.updateUser("alice") { $0.status = .disabled }
            try await writer.updateUser("alice") { $0.status = .active }
            // Where commits come faster than reads, the trail is not read at once.
            try await eventually { try await open.store.provider(open.provider, changedSince: mark) == nil }
        }
    }

    @Test func theEndOfAProviderIsSeen() async throws {
        let open = try await Open()
        let unused = try await open.store.putProvider(.sample("unused", at: open.fixture.now), replacing: nil)
        let mark = try await open.mark()
        try await open.other.removeProvider(unused.handle)
        await #expect(throws: StoreError.notFound(.provider)) {
            _ = try await open.store.provider(unused.handle, changedSince: mark)
        }
    }

    @Test func aCommitThatTheTrailDoesNotKnowIsSeen() async throws {
        let open = try await Open()
        let mark = try await open.mark()
        try open.fixture.edit("UPDATE provider SET cell = randomblob(length(cell))")
        await #expect(throws: StoreError.self) {
            _ = try await open.store.provider(open.provider, changedSince: mark)
        }
    }

    /// A snapshot shows one moment, and the mark another.
    @Test func aSnapshotHasNoMark() async throws {
        let open = try await Open()
        _ = try await open.mark()
        let marks = try open.store.readers.read { reader throws(StoreError) in
            let outside = try reader.tables.markOfSettings()
            let inside = try reader.withSnapshot { () throws(StoreError) in
                _ = try reader.auditHead()
                return try reader.tables.markOfSettings()
            }
            return [outside, inside]
        }
        #expect(marks[0] != nil && marks[1] == nil)
    }

    @Test func withoutMemoryEachCallReadsIt() async throws {
        let open = try await Open(cachedLogins: 0)
        for _ in 0..<4 {
            let read = try await open.store.provider(open.provider, changedSince: 1)
            #expect(read != nil && read?.mark == nil)
        }
    }

    /// Another store changes the provider and a login in turns; no reader takes less than what was acknowledged when it asked.
    @Test func nothingOlderIsVouchedFor() async throws {
        let open = try await Open()
        let rounds = Depth.pick(brief: 100, nightly: 1_000, deep: 20_000)
        try await open.change("0", in: open.other)
        let (acknowledged, vouched, stop) = (Counter(), Counter(), Flag())
        let stale = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<3 {
                group.addTask {
                    var (stale, mark, known) = (0, nil as Int64?, -1)
                    while !stop.isSet {
                        let floor = acknowledged.value
                        if let read = try await open.store.provider(open.provider, changedSince: mark) {
                            mark = read.mark
                            known = Int(read.provider.record.defaultScope ?? "") ?? -1
                        } else {
                            vouched.add()
                        }
                        if known < floor { stale += 1 }
                        await Task.yield()
                    }
                    return stale
                }
            }
            defer { stop.set() }
            for round in 1...rounds {
                try await open.change("\(round)", in: open.other)
                acknowledged.add()
                try await open.other.updateLogin(open.alice) { $0.session.attempts += 1 }
                guard round % 10 == 0 else { continue }
                let before = vouched.value
                try await eventually { vouched.value > before }
            }
            stop.set()
            return try await group.reduce(0, +)
        }
        #expect(stale == 0)
        print("a provider in memory: \(vouched.value) reads spared beside \(rounds) changes, \(stale) stale")
    }
}
