import Foundation
import TestSupport
import Testing
import VaultCrypto

@testable import VaultSQLite
@testable import VaultStorage

/// While batches follow each other, the log is copied into the database file beside the next one.
struct BatchCopyTests {
    private static let tokenLength = 50_000
    private static let loginsOfBatch = 100

    @Test func aLongLogIsCopiedWhileTheNextBatchIsMade() async throws {
        let vault = try VaultFixture(in: PrivateDirectory(in: "/dev/shm"))
        try vault.create().close()
        let store = try vault.open()
        var batches = 0
        while vault.walSize < Int(CheckpointSchedule.copiedBesideBatches) * 4_200 {
            try await Self.write(batch: batches, to: store)
            batches += 1
        }
        let before = Self.size(vault.path)
        #expect(before < 2 << 20)
        await #expect(throws: Undone.self) {
            _ = try await store.write { transaction in
                try transaction.tables.expectManyChanges()
                // Waits for another thread, on the writer's own.
                for _ in 0..<60_000 where Self.size(vault.path) < 18 << 20 { usleep(10_000) }
                #expect(Self.size(vault.path) > 18 << 20)
                _ = try transaction.insertLogin(Self.draft("undone"))
                throw Undone()
            }
        }
        // The log is written on, and begins anew when the rest of it is copied.
        let walSize = vault.walSize
        for _ in 0..<4 {
            try await Self.write(batch: batches, to: store)
            batches += 1
        }
        #expect(vault.walSize <= max(walSize, 48 << 20))
        #expect(try await store.verify().isClean)
        #expect(try await store.statistics().users == batches * Self.loginsOfBatch)
        store.close()
    }

    /// What a transaction has not committed must not be in the log, which is copied meanwhile.
    @Test func aBatchWritesNothingToTheLogBeforeItsEnd() async throws {
        let vault = try VaultFixture(in: PrivateDirectory(in: "/dev/shm"))
        try vault.create().close()
        let store = try vault.open()
        // The first one may: nothing is copied beside it.
        try await Self.write(batch: 0, to: store)
        let before = vault.walSize
        await #expect(throws: Undone.self) {
            _ = try await store.write { transaction in
                try transaction.tables.expectManyChanges()
                // Half as much again as the cache holds.
                for number in 0..<600 { _ = try transaction.insertLogin(Self.draft("u\(number)")) }
                throw Undone()
            }
        }
        #expect(vault.walSize == before)
        store.close()
    }

    private struct Undone: Error {}

    private static func write(batch: Int, to store: SQLiteVaultStore) async throws {
        let drafts = (0..<loginsOfBatch).map { draft("u\(batch)-\($0)") }
        let logins = zip(drafts, store.seal(drafts)).map { (userId: $0.userId, drafted: Optional($1)) }
        let answers = try await store.takeImported(logins, isRehearsal: false) { _, _ in nil }
        for answer in answers { guard case .added = answer else { throw Undone() } }
    }

    private static func draft(_ user: String) -> LoginDraft {
        var draft = SampleVault.draft(user: user, number: 0, provider: nil)
        draft.session.accessToken = SecretBytes(copying: [UInt8](repeating: 7, count: tokenLength))
        return draft
    }

    private static func size(_ path: String) -> Int {
        var info = stat()
        return unsafe lstat(path, &info) == 0 ? Int(info.st_size) : 0
    }
}
