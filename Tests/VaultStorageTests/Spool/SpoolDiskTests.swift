import Foundation
import TestSupport
import Testing
import VaultCrypto

@testable import VaultSQLite
@testable import VaultStorage

/// A file system without room, where the spool is what is left.
@Suite(.serialized, .enabled(if: SmallFileSystem.isPossible, "only root can mount a small file system"))
struct SpoolDiskTests {
    private func code(_ body: () throws -> Void) -> StoreError.Code? {
        do {
            try body()
            return nil
        } catch {
            return (error as? StoreError)?.code
        }
    }

    @Test func whatWasPreparedHasRoomOnAFullDisk() async throws {
        let disk = try SmallFileSystem(byteCount: 3 << 20)
        let fixture = try VaultFixture(in: PrivateDirectory(in: disk.path))
        let store = try fixture.create()
        try store.spool.prepare()
        disk.fill()
        var kept: [SpooledReply] = []
        while kept.count < 100 {
            let reply = SpooledReply.sample("\(kept.count)")
            guard code({ _ = try store.spool.add(reply) }) == nil else { break }
            kept.append(reply)
        }
        #expect(kept.count == 16)
        #expect(try store.spool.listings().map(\.reply) == kept)
        var long = SpooledReply.sample("long")
        long.accessToken = SecretBytes(copying: [UInt8](repeating: 1, count: 200_000))
        #expect(code { _ = try store.spool.add(long) } == .full)
        #expect(code { try store.spool.prepare() } == .full)
        // Removing needs no room.
        for listing in try store.spool.listings() { try store.spool.remove(try #require(listing.handle)) }
        #expect(code { _ = try store.spool.add(.sample()) } == nil)
        disk.empty()
        #expect(code { _ = try store.spool.add(long) } == nil)
        #expect(code { try store.spool.prepare() } == nil)
        #expect(try store.spool.listings().contains { $0.reply == long })
    }

    /// Everything that is under way when the disk fills up is kept, and not the first few replies alone.
    @Test func theReserveFollowsWhatIsUnderWay() throws {
        let disk = try SmallFileSystem(byteCount: 6 << 20)
        let fixture = try VaultFixture(in: PrivateDirectory(in: disk.path))
        let store = try fixture.create()
        for count in 1...100 { try store.spool.prepare(for: count) }
        disk.fill()
        var kept = 0
        while kept < 1_000, (try? store.spool.add(.sample("\(kept)"))) != nil { kept += 1 }
        #expect((100..<1_000).contains(kept), "\(kept) replies")
        #expect(try store.spool.listings().count { $0.reply != nil } == kept)
        print("spool: \(kept) replies kept on a full disk, 100 under way")
    }

    @Test func theReserveHasALimit() throws {
        let fixture = try VaultFixture()
        let store = try fixture.create()
        try store.spool.prepare(for: .max)
        try store.spool.prepare(for: -1)
        #expect(try store.spool.depth().bytes == SpoolFile.mostReserved)
    }

    @Test func aDiskThatIsNearlyFullIsTold() async throws {
        let disk = try SmallFileSystem(byteCount: 3 << 20)
        let fixture = try VaultFixture(in: PrivateDirectory(in: disk.path))
        let store = try fixture.create()
        try store.spool.prepare()
        disk.fill()
        #expect(code { try store.spool.prepare() } == .full)
        #expect(try await store.statistics().spool.files == 1)
        disk.empty()
        #expect(code { try store.spool.prepare() } == nil)
    }

    @Test func withoutRoomNothingIsLeftBehind() throws {
        let disk = try SmallFileSystem(byteCount: 3 << 20)
        let fixture = try VaultFixture(in: PrivateDirectory(in: disk.path))
        let store = try fixture.create()
        disk.fill()
        #expect(code { try store.spool.prepare() } == .full)
        #expect(code { _ = try store.spool.add(.sample()) } == .full)
        #expect(try fixture.spoolFiles() == [])
        disk.empty()
        #expect(code { try store.spool.prepare() } == nil)
    }
}
