import Foundation
import Glibc
import TestSupport
import Testing
import VaultCrypto
import VaultSQLite
import VaultStorage

/// Spool files that are not as their process left them.
struct SpoolDamageTests {
    private func prepared(_ count: Int) throws -> (VaultFixture, owner: Int64, [SpooledReply], [UInt8]) {
        let fixture = try VaultFixture()
        try fixture.create().close()
        let replies = (0..<count).map { number in
            var reply = SpooledReply.sample("\(number)")
            // Six sectors that are not empty.
            reply.accessToken = SecretBytes(copying: [UInt8](repeating: 9, count: 2200))
            return reply
        }
        let owner = try fixture.spoolAndDie(replies).owner
        return (fixture, owner, replies, try fixture.spoolBytes(of: owner))
    }

    /// What a disk has when the power fails in the middle of an entry: any of its sectors, in any order.
    @Test func everyTornWriteIsRecognised() throws {
        let (fixture, owner, replies, whole) = try prepared(3)
        let store = try fixture.open()
        let second = 4096..<8192
        var torn = 0
        for mask in 0..<64 {
            var bytes = whole
            for sector in 0..<8 where mask & (1 << sector) == 0 {
                let start = second.lowerBound + sector * 512
                bytes.replaceSubrange(start..<start + 512, with: [UInt8](repeating: 0, count: 512))
            }
            try fixture.overwriteSpool(of: owner, with: bytes)
            let found = try store.spool.listings()
            #expect(found.compactMap(\.reply).contains(replies[0]) && found.compactMap(\.reply).contains(replies[2]))
            if bytes[second] == whole[second] {
                #expect(found.compactMap(\.reply) == replies)
            } else if bytes[second].allSatisfy({ $0 == 0 }) {
                #expect(found.count == 2)
            } else {
                #expect(found.map(\.damage) == [nil, .torn, nil], "sectors \(mask)")
                torn += 1
            }
        }
        print("spool: \(torn) torn writes recognised")
        #expect(torn > 40)
    }

    /// Each byte of an entry and of the empty room behind it.
    @Test func everyChangedByteIsNoticedAndHidesNothingElse() throws {
        let (fixture, owner, replies, whole) = try prepared(2)
        let store = try fixture.open()
        for index in 0..<4096 where index < 700 || index % 16 == 0 {
            var bytes = whole
            bytes[index] ^= 0x41
            let pieces = SpoolImage(bytes).pieces
            #expect(pieces.count == 2 && pieces.last?.cell != nil, "byte \(index)")
            guard index % 64 == 0 || index < 140 else { continue }
            try fixture.overwriteSpool(of: owner, with: bytes)
            let found = try store.spool.listings()
            #expect(found.count == 2 && found.last?.reply == replies[1])
            // Only the filling of the last page says nothing.
            #expect(found[0].damage == .torn || found[0].reply == replies[0], "byte \(index)")
        }
    }

    @Test func aTornEntryCanBeRemovedByName() throws {
        let (fixture, owner, replies, whole) = try prepared(2)
        let store = try fixture.open()
        for index in [0, 200] {
            var bytes = whole
            bytes[index] ^= 1
            try fixture.overwriteSpool(of: owner, with: bytes)
            let found = try store.spool.listings()
            #expect(found.map(\.damage) == [.torn, nil])
            try store.spool.remove(try #require(found.first?.handle))
            #expect(try store.spool.listings().map(\.reply) == [replies[1]])
        }
    }

    @Test func aTornEntryKeepsTheFileOfTheDead() throws {
        let (fixture, owner, _, whole) = try prepared(1)
        let store = try fixture.open()
        var bytes = whole
        bytes[300] ^= 1
        try fixture.overwriteSpool(of: owner, with: bytes)
        for _ in 0..<2 { #expect(try store.spool.listings().map(\.damage) == [.torn]) }
    }

    /// With checksums that are right, as somebody makes them who knows the format but no key.
    @Test func aChangedEntryIsNotATornOne() throws {
        let (fixture, owner, _, whole) = try prepared(2)
        let store = try fixture.open()
        let image = SpoolImage(whole)
        let (first, second) = (image.pieces[0], image.pieces[1])
        guard let head = first.head, let cell = first.cell.map({ Array(whole[$0]) }), let other = second.head else {
            Issue.record("no entry")
            return
        }
        var heads: [(String, SpoolFrame.Head)] = [("other entry's head", other)]
        // One by one: a list of closures takes the compiler twelve seconds.
        func changing(_ name: String, _ change: (inout SpoolFrame.Head) -> Void) {
            var changed = head
            change(&changed)
            heads.append((name, changed))
        }
        changing("vault") { $0.vault = .zero }
        changing("login") { $0.login = .random() }
        changing("entry") { $0.entry = .zero }
        changing("chain") { $0.position.chain += 1 }
        changing("generation") { $0.position.generation += 1 }
        changing("fence") { $0.fence += 1 }
        var frames = heads.map { ($0.0, SpoolFrame.bytes($0.1, cell: cell)) }
        var flipped = cell
        flipped[flipped.count - 1] ^= 1
        frames.append(("cell", SpoolFrame.bytes(head, cell: flipped)))
        frames.append(("empty cell", SpoolFrame.bytes(head, cell: [])))
        for (name, frame) in frames {
            try fixture.overwriteSpool(of: owner, with: frame + whole[first.range.upperBound...])
            let found = try store.spool.listings()
            #expect(found.count == 2 && found[0].reply == nil && found[1].reply != nil, "\(name)")
            guard case .unopenable(let error)? = found[0].damage else {
                Issue.record("\(name): \(String(describing: found[0].damage))")
                continue
            }
            #expect(error.code == .quarantined(table: "spool", handle: found[0].handle.map { Base32.encode($0.entry) }))
        }
        print("spool: \(frames.count) forged entries refused")
    }

    @Test func anotherVaultsEntryIsForeign() throws {
        let (fixture, _, _, _) = try prepared(1)
        let (_, _, _, foreign) = try prepared(1)
        try fixture.overwriteSpool(of: 77, with: foreign)
        let found = try fixture.open().spool.listings()
        #expect(found.count == 2 && found.count { $0.reply != nil } == 1)
        #expect(found.contains { if case .unopenable = $0.damage { $0.owner == 77 } else { false } })
    }

    @Test func whatOthersCanReachIsNotTrusted() throws {
        let (fixture, owner, _, whole) = try prepared(1)
        let store = try fixture.open()
        let path = fixture.spoolPath(of: owner)
        func damage() throws -> SpoolListing.Damage? { try store.spool.listings().first?.damage }
        func isRefused(_ damage: SpoolListing.Damage?) -> Bool {
            if case .unreadableFile(let error) = damage { error.code == .unsafeFile } else { false }
        }
        #expect(unsafe chmod(path, 0o644) == 0)
        #expect(isRefused(try damage()))
        #expect(unsafe chmod(path, 0o600) == 0)
        #expect(unsafe link(path, fixture.directory.file("second")) == 0)
        #expect(isRefused(try damage()))
        #expect(unsafe unlink(path) == 0)
        #expect(unsafe symlink(fixture.directory.file("second"), path) == 0)
        #expect(isRefused(try damage()))
        #expect(unsafe unlink(path) == 0)
        #expect(unsafe mkfifo(path, 0o600) == 0)
        #expect(isRefused(try damage()))
        #expect(unsafe unlink(path) == 0)
        try fixture.overwriteSpool(of: owner, with: whole)
        #expect(try damage() == nil)
        try fixture.overwriteSpool(of: owner, with: [UInt8](repeating: 0, count: 5 << 20))
        guard case .unreadableFile? = try damage() else {
            Issue.record("a file that is too long")
            return
        }
        #expect(unsafe chmod(fixture.spoolPath, 0o755) == 0)
        let error = #expect(throws: StoreError.self) { try store.spool.listings() }
        #expect(error?.code == .unsafeFile)
        #expect(throws: StoreError.self) { try store.spool.prepare() }
        #expect(throws: StoreError.self) { try store.spool.add(.sample()) }
    }

    @Test func otherNamesAreNoneOfItsBusiness() throws {
        let fixture = try VaultFixture()
        let store = try fixture.create()
        try store.spool.prepare()
        let names = ["0.spool", "-5.spool", "012.spool", "x.spool", "7.spool.bak", "99999999999999999999.spool"]
        for name in names { try Data([1]).write(to: URL(fileURLWithPath: "\(fixture.spoolPath)/\(name)")) }
        #expect(try store.spool.listings().isEmpty)
        #expect(try fixture.spoolFiles().count == names.count + 1)
    }
}
