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
