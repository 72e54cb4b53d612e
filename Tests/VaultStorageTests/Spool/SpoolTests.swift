import Foundation
import Glibc
import Testing
import VaultCrypto
import VaultSQLite
import VaultStorage

/// Replies that are kept beside the vault.
struct SpoolTests {
    private func mode(_ path: String) throws -> mode_t {
        var info = stat()
        guard unsafe lstat(path, &info) == 0 else { throw POSIXError(.ENOENT) }
        return info.st_mode & 0o7777
    }

    @Test func aReplyComesBackAsItWas() async throws {
        let fixture = try VaultFixture()
        let store = try fixture.create()
        let full = SpooledReply.sample()
        var bare = SpooledReply(
            login: .random(), user: .random(), provider: nil, position: .first, fence: 1, accessToken: nil,
            tokenType: "", obtainedAt: fixture.now)
        bare.refreshToken = SecretBytes(utf8: "r")
        let handles = [try store.spool.add(full), try store.spool.add(bare)]
        let found = try store.spool.listings()
        #expect(found.map(\.handle) == handles)
        #expect(found.map(\.reply) == [full, bare])
        #expect(found.allSatisfy { $0.damage == nil && $0.owner == store.owner })
        #expect(try await store.statistics().spool.entries == 2)
    }

    @Test func preparingMakesRoomOnceAndForItsOwnerAlone() throws {
        let fixture = try VaultFixture()
        let store = try fixture.create()
        #expect(try fixture.spoolFiles() == [])
        for _ in 0..<3 { try store.spool.prepare() }
        #expect(try fixture.spoolFiles() == ["\(store.owner).spool"])
        #expect(try mode(fixture.spoolPath) == 0o700)
        #expect(try mode(fixture.spoolPath(of: store.owner)) == 0o600)
        #expect(try fixture.spoolBytes(of: store.owner) == [UInt8](repeating: 0, count: 64 * 1024))
        for _ in 0..<20 { _ = try store.spool.add(.sample()) }
        try store.spool.prepare()
        // What is taken is made up for.
        #expect(try fixture.spoolBytes(of: store.owner).count >= 64 * 1024 + 20 * 4096)
    }

    @Test func anEntryMayBeLongerThanTheRoomThatIsLeft() throws {
        let fixture = try VaultFixture()
        let store = try fixture.create()
        try store.spool.prepare()
        var replies: [SpooledReply] = []
        for length in [10, 70_000, 300_000, 4_000, 890_000] {
            var reply = SpooledReply.sample()
            reply.accessToken = SecretBytes(copying: [UInt8](repeating: 7, count: length))
            _ = try store.spool.add(reply)
            replies.append(reply)
        }
        let found = try store.spool.listings()
        #expect(found.count == replies.count)
        for reply in replies { #expect(found.contains { $0.reply == reply }) }
    }

    @Test func noSecretIsReadableInTheFile() throws {
        let fixture = try VaultFixture()
        let store = try fixture.create()
        _ = try store.spool.add(.sample())
        let bytes = try fixture.spoolBytes(of: store.owner)
        #expect(bytes.firstRange(of: Array("CANARY".utf8)) == nil)
        #expect(bytes.firstRange(of: Array("example".utf8)) == nil)
    }

    @Test func whatIsUnspooledIsGoneForGoodAndItsPlaceIsUsedAgain() throws {
        let fixture = try VaultFixture()
        let store = try fixture.create()
        let handles = try (0..<3).map { try store.spool.add(.sample("\($0)")) }
        try store.spool.remove(handles[1])
        try store.spool.remove(handles[1])
        #expect(try store.spool.listings().map(\.handle) == [handles[0], handles[2]])
        let bytes = try fixture.spoolBytes(of: store.owner)
        // The cell is overwritten; only the head of the entry is left.
        #expect(bytes[4096 + 512..<8192].allSatisfy { $0 == 0 })
        let later = try store.spool.add(.sample("later"))
        #expect(try store.spool.listings().map(\.handle) == [handles[0], later, handles[2]])
        #expect(try fixture.spoolBytes(of: store.owner).count == bytes.count)
    }

    @Test func aProcessThatEndsLeavesItsEntriesAndNoEmptyFile() throws {
        let fixture = try VaultFixture()
        try fixture.create().close()
        let reply = SpooledReply.sample()
        let dead = try fixture.spoolAndDie([reply, .sample("b")])
        _ = try fixture.spoolAndDie([])
        #expect(try fixture.spoolFiles() == ["\(dead.owner).spool"])
        let store = try fixture.open()
        let found = try store.spool.listings()
        #expect(found.map(\.handle) == dead.handles)
        #expect(found.first?.reply == reply)
        try store.spool.remove(dead.handles[0])
        #expect(try store.spool.listings().map(\.handle) == [dead.handles[1]])
        #expect(try fixture.spoolFiles().count == 1)
        try store.spool.remove(dead.handles[1])
        #expect(try fixture.spoolFiles() == [])
        try store.spool.remove(dead.handles[1])
        #expect(try store.spool.listings().isEmpty)
    }

    @Test func aDeadProcessesEmptyFileIsRemovedByWhoeverSeesIt() throws {
        let fixture = try VaultFixture()
        let store = try fixture.create()
        try store.spool.prepare()
        for (owner, content) in [(store.owner ^ 1, [UInt8](repeating: 0, count: 65_536)), (store.owner ^ 2, [])] {
            let isMade = FileManager.default.createFile(
                atPath: "\(fixture.spoolPath)/\(owner).spool", contents: Data(content),
                attributes: [.posixPermissions: 0o600])
            #expect(isMade)
        }
        #expect(try store.spool.listings().isEmpty)
        #expect(try fixture.spoolFiles() == ["\(store.owner).spool"])
    }

    @Test func theLivingKeepTheirOwn() async throws {
        let fixture = try VaultFixture()
        let first = try fixture.create()
        let second = try fixture.open()
        let handle = try first.spool.add(.sample())
        #expect(try second.spool.listings().isEmpty)
        #expect(try await second.statistics().spool.entries == 1)
        let error = #expect(throws: StoreError.self) { try second.spool.remove(handle) }
        #expect(error?.code == .conflict)
        #expect(try first.spool.listings().count == 1)
        first.close()
        #expect(try second.spool.listings().map(\.handle) == [handle])
    }

    @Test func aClosedStoreSpoolsNothing() throws {
        let fixture = try VaultFixture()
        let store = try fixture.create()
        store.close()
        let error = #expect(throws: StoreError.self) { try store.spool.add(.sample()) }
        #expect(error?.code == .closed)
        #expect(!store.ownsItsLock)
    }

    /// Removed by somebody who tidies up, or with its descriptor closed: what is spooled next must still be found.
    @Test func aFileThatWasRemovedIsMadeAgain() throws {
        let fixture = try VaultFixture()
        let store = try fixture.create()
        try store.spool.prepare()
        #expect(unsafe unlink(fixture.spoolPath(of: store.owner)) == 0)
        let handle = try store.spool.add(.sample())
        #expect(try store.spool.listings().map(\.handle) == [handle])
        try FileManager.default.removeItem(atPath: fixture.spoolPath)
        try store.spool.prepare()
        #expect(try fixture.spoolFiles().count == 1)
    }

    /// Two processes that recover at the same time, on many entries of the dead.
    @Test func twoMayUnspoolAtOnce() async throws {
        let fixture = try VaultFixture()
        try fixture.create().close()
        var expected: Set<SpooledReply> = []
        for round in 0..<4 {
            let replies = (0..<10).map { SpooledReply.sample("\(round)-\($0)") }
            _ = try fixture.spoolAndDie(replies)
            expected.formUnion(replies)
        }
        let stores = [try fixture.open(), try fixture.open(), try fixture.open()]
        let seen = try await withThrowingTaskGroup(of: Set<SpooledReply>.self) { group in
            for store in stores {
                group.addTask {
                    var seen: Set<SpooledReply> = []
                    while true {
                        let listings = try store.spool.listings()
                        if listings.isEmpty { return seen }
                        for listing in listings {
                            #expect(listing.damage != .torn)
                            guard let reply = listing.reply, let handle = listing.handle else { continue }
                            seen.insert(reply)
                            try store.spool.remove(handle)
                        }
                    }
                }
            }
            return try await group.reduce(into: Set<SpooledReply>()) { $0.formUnion($1) }
        }
        #expect(seen == expected)
        #expect(try fixture.spoolFiles() == [])
        print("spool: \(expected.count) entries of the dead, \(stores.count) at once")
    }
}

extension SpooledReply: Hashable {
    package func hash(into hasher: inout Hasher) { hasher.combine(login) }
}
