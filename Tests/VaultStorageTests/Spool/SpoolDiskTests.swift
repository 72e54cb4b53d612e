import Foundation
import Testing
import VaultCrypto

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
        let fixture = try VaultFixture(directory: disk.path)
        let store = try fixture.create()
        try store.prepareSpool()
        disk.fill()
        var kept: [SpooledReply] = []
        while kept.count < 100 {
            let reply = SpooledReply.sample("\(kept.count)")
            guard code({ _ = try store.spool(reply) }) == nil else { break }
            kept.append(reply)
        }
        #expect(kept.count == 16)
        #expect(try store.spooledReplies().map(\.reply) == kept)
        var long = SpooledReply.sample("long")
        long.accessToken = SecretBytes(copying: [UInt8](repeating: 1, count: 200_000))
        #expect(code { _ = try store.spool(long) } == .full)
        #expect(code { try store.prepareSpool() } == .full)
        // Removing needs no room.
        for listing in try store.spooledReplies() { try store.unspool(try #require(listing.handle)) }
        #expect(code { _ = try store.spool(.sample()) } == nil)
        disk.empty()
        #expect(code { _ = try store.spool(long) } == nil)
        #expect(code { try store.prepareSpool() } == nil)
        #expect(try store.spooledReplies().contains { $0.reply == long })
    }

    /// Everything that is under way when the disk fills up is kept, and not the first few replies alone.
    @Test func theReserveFollowsWhatIsUnderWay() throws {
        let disk = try SmallFileSystem(byteCount: 6 << 20)
        let fixture = try VaultFixture(directory: disk.path)
        let store = try fixture.create()
        for count in 1...100 { try store.prepareSpool(for: count) }
        disk.fill()
        var kept = 0
        while kept < 1_000, (try? store.spool(.sample("\(kept)"))) != nil { kept += 1 }
        #expect((100..<1_000).contains(kept), "\(kept) replies")
        #expect(try store.spooledReplies().count { $0.reply != nil } == kept)
        print("spool: \(kept) replies kept on a full disk, 100 under way")
    }

    @Test func theReserveHasALimit() throws {
        let fixture = try VaultFixture()
        let store = try fixture.create()
        try store.prepareSpool(for: .max)
        try store.prepareSpool(for: -1)
        #expect(try store.spoolDepth().bytes == SpoolFile.mostReserved)
    }

    @Test func aDiskThatIsNearlyFullIsTold() throws {
        let disk = try SmallFileSystem(byteCount: 3 << 20)
        let fixture = try VaultFixture(directory: disk.path)
        let store = try fixture.create()
        try store.prepareSpool()
        disk.fill()
        #expect(code { try store.prepareSpool() } == .full)
        #expect(try store.statistics().spool.files == 1)
        disk.empty()
        #expect(code { try store.prepareSpool() } == nil)
    }

    @Test func withoutRoomNothingIsLeftBehind() throws {
        let disk = try SmallFileSystem(byteCount: 3 << 20)
        let fixture = try VaultFixture(directory: disk.path)
        let store = try fixture.create()
        disk.fill()
        #expect(code { try store.prepareSpool() } == .full)
        #expect(code { _ = try store.spool(.sample()) } == .full)
        #expect(try fixture.spoolFiles() == [])
        disk.empty()
        #expect(code { try store.prepareSpool() } == nil)
    }
}
