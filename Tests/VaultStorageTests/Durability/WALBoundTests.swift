import Foundation
import Synchronization
import TestSupport
import Testing
import VaultCrypto
import VaultSQLite
import VaultStorage

/// The WAL begins anew whoever reads, and in time.
@Suite(.serialized) struct WALBoundTests {
    private static let bound = 64 << 20
    private static let tokenLength = 200_000

    @Test func strangersWithoutAGapDoNotLetTheWALGrowWithoutBound() async throws {
        let vault = try VaultFixture(in: PrivateDirectory(in: "/dev/shm"))
        try vault.create().close()
        let store = try vault.open()
        let login = try await store.insertLogin(SampleVault.draft(user: "alice", number: 0, provider: nil)).handle
        // While one of them begins a new snapshot, the other one is in the middle of his.
        let strangers = (0..<2).map { number in
            Stranger(vault.path, holds: 0.4, startsAfter: 0.2 * Double(number))
        }
        for stranger in strangers { stranger.waitForSnapshot() }
        var peak = 0
        var longest = Duration.zero
        let count = 180 << 20 / Self.tokenLength
        for generation in 0..<count {
            let start = SuspendingClock.now
            try await Self.write(generation, to: login, of: store)
            longest = max(longest, start.duration(to: .now))
            peak = max(peak, Self.size(vault.path + "-wal"))
        }
        let snapshots = strangers.map { $0.stop() }
        #expect(snapshots.allSatisfy { $0 > 1 })
        #expect(peak < Self.bound)
        #expect(try await store.verify().isClean)
        store.close()
        print(
            "WAL bound: \((count * Self.tokenLength) >> 20) MiB written beside \(snapshots.reduce(0, +)) overlapping snapshots,",
            "WAL at most \(peak >> 20) MiB, longest commit \(longest)")
    }

    @Test func theWALBeginsAnewOnceALongSnapshotEnds() async throws {
        let vault = try VaultFixture(in: PrivateDirectory(in: "/dev/shm"))
        try vault.create().close()
        let store = try vault.open()
        let login = try await store.insertLogin(SampleVault.draft(user: "alice", number: 0, provider: nil)).handle
        let stranger = try RawDatabase(of: vault)
        try stranger.execute("BEGIN")
        _ = try stranger.integer("SELECT count(*) FROM login")
        var generation = 0
        func write(_ mebibytes: Int) async throws {
            for _ in 0..<(mebibytes << 20 / Self.tokenLength) {
                generation += 1
                try await Self.write(generation, to: login, of: store)
            }
        }
        try await write(20)
        #expect(Self.size(vault.path + "-wal") > 20 << 20)
        try stranger.execute("COMMIT")
        try await write(6)
        // The writer rests, so that a stranger's checkpoint does no harm: it tells how long the WAL is.
        let pages = try #require(try stranger.run("PRAGMA wal_checkpoint(PASSIVE)").first)
        guard case .integer(let logged) = pages[1] else { throw POSIXError(.EIO) }
        #expect(logged < 6 << 20 / 4096)
        store.close()
    }

    /// The pool's connections live as long as the store. One that stayed in a transaction would keep the WAL for ever.
    @Test func noReadLeavesASnapshotOpen() async throws {
        let vault = try VaultFixture()
        try vault.create().close()
        let store = try vault.open()
        try await vault.fill(store)
        try await Self.readEverything(store)
        let stranger = try RawDatabase(of: vault)
        // SQLite waits for readers of the WAL here: 0 says that there were none.
        #expect(try stranger.run("PRAGMA wal_checkpoint(RESTART)").first?.first == .integer(0))
        store.close()
    }

    // MARK: Helpers

    private static func write(_ generation: Int, to login: LoginHandle, of store: SQLiteVaultStore) async throws {
        let token = [UInt8](repeating: UInt8(truncatingIfNeeded: generation), count: tokenLength)
        try await store.updateLogin(login) { state in
            state.position = state.position.successor
            state.session.accessToken = SecretBytes(copying: token)
        }
    }

    /// Every read that the protocol has, also in vain.
    private static func readEverything(_ store: SQLiteVaultStore) async throws {
        let user = SampleVault.manyLogins[0]
        let handle = try #require(try await store.user(user).logins.first)
        _ = try await store.session(.login(handle, ofUsers: user))
        _ = try await store.session(.login(handle))
        _ = try await store.session(.user(SampleVault.oneLogin))
        for absent in [LoginSelector.user("nobody"), .user(user), .login(.random()), .login(.random(), ofUsers: user)] {
            await #expect(throws: StoreError.self) { try await store.session(absent) }
        }
        _ = try await store.login(handle)
        await #expect(throws: StoreError.self) { try await store.login(.random()) }
        _ = try await store.logins(ofUser: user, after: nil, limit: 1)
        _ = try await store.logins(ofUser: nil, after: nil, limit: 1)
        _ = try await store.users(after: nil, limit: 1)
        let provider = try #require(try await store.providers().first?.provider)
        _ = try await store.provider(provider.handle)
        _ = try await store.provider(named: provider.record.name)
        await #expect(throws: StoreError.self) { try await store.provider(.random()) }
        _ = try await store.auditEntries(after: 0, limit: 1)
        let entry = try #require(try await store.outbox(after: nil, limit: 1).first)
        _ = try await store.outboxEntry(#require(entry.handle))
        _ = try await store.dueOutboxEntries(at: .init(milliseconds: .max), limit: 1)
        _ = try await store.keySlots()
        _ = try await store.openIntents(after: nil, limit: 1)
        _ = try await store.statistics()
        _ = try await store.verify()
    }

    private static func size(_ path: String) -> Int {
        var info = stat()
        return unsafe lstat(path, &info) == 0 ? Int(info.st_size) : 0
    }
}

/// Somebody who holds one snapshot after the other, with a connection and on a thread of his own.
private final class Stranger: Sendable {
    private let isEnough = Flag()
    private let hasBegun = DispatchSemaphore(value: 0)
    private let hasEnded = DispatchSemaphore(value: 0)
    private let count = Atomic(0)

    init(_ path: String, holds: TimeInterval, startsAfter delay: TimeInterval) {
        Thread.detachNewThread { [self] in
            defer { hasEnded.signal() }
            guard let connection = try? RawDatabase(path) else { return }
            Thread.sleep(forTimeInterval: delay)
            while !isEnough.isSet {
                try? connection.execute("BEGIN; SELECT count(*) FROM login")
                if count.add(1, ordering: .relaxed).newValue == 1 { hasBegun.signal() }
                Thread.sleep(forTimeInterval: holds)
                try? connection.execute("COMMIT")
            }
        }
    }

    func waitForSnapshot() { hasBegun.wait() }

    /// Gives how many snapshots there were.
    func stop() -> Int {
        isEnough.set()
        hasEnded.wait()
        return count.load(ordering: .relaxed)
    }
}
