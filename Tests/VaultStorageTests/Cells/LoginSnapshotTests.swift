import Foundation
import TestSupport
import Testing
import VaultCrypto

@testable import VaultStorage

/// How a login's look is written into an audit row.
struct LoginSnapshotTests {
    private static let instant = Timestamp(milliseconds: 1_800_000_000_000)

    private static func looks() throws -> [LoginSnapshot] {
        let states: [SessionSummary?] = [
            nil, .establishing, .established, .tokenExpired, .refreshFailed(FailureRecord(reason: 2, at: instant)),
            .terminated(0), .terminated(4),
        ]
        let tokens: [LoginSnapshot.Token?] = [
            nil, .init(generation: 7, expiresAt: instant), .init(generation: 7, expiresAt: nil),
            .init(generation: 3, expiresAt: instant), .init(generation: 3, expiresAt: nil),
        ]
        var looks: [LoginSnapshot] = []
        for state in states {
            for token in tokens {
                for isWhole in [false, true] {
                    var look = LoginSnapshot(state: state, generation: 7, token: token)
                    look.isNew = isWhole
                    look.refreshExpiresAt = isWhole ? instant.advanced(by: .seconds(1)) : nil
                    look.grant = isWhole ? .init(since: instant, provider: .random()) : nil
                    looks.append(look)
                }
            }
        }
        return looks
    }

    @Test func whatIsWrittenIsRead() throws {
        for look in try Self.looks() {
            let record = AuditDetail(texts: [.init("after", "doubt")], look: look).encoded()
            let detail = try unsafe AuditDetail(record.bytes)
            #expect(detail.look == look)
            #expect(detail.texts == [.init("after", "doubt")])
        }
    }

    @Test func whatAReplyShowedIsWrittenAndRead() throws {
        for facts in [
            ReplyFacts(), ReplyFacts(nextToken: .same),
            ReplyFacts(nextToken: .new, saysLifetime: true, idle: 9, age: 0),
            ReplyFacts(saysLifetime: true, idle: .max, age: .max),
        ] {
            let record = AuditDetail(look: try Self.looks()[0], facts: facts).encoded()
            #expect(try unsafe AuditDetail(record.bytes).facts == facts)
        }
    }

    @Test func aRowWithoutALookHasNone() throws {
        let record = AuditDetail(texts: [.init("cause", "transient")]).encoded()
        #expect(try unsafe AuditDetail(record.bytes).look == nil)
    }

    /// A cell is padded to blocks: a look costs a row about a renewal nothing beside what is said of it anyway.
    @Test func aLookFitsIntoOneBlockWithAllThatARenewalSays() {
        var look = LoginSnapshot(
            state: .established, generation: .max, token: .init(generation: .max, expiresAt: Self.instant))
        look.isNew = true
        look.refreshExpiresAt = Self.instant
        look.grant = .init(since: Self.instant, provider: .random())
        let texts: [AuditEvent.Detail] = [
            .init("after", "doubt"), .init("from", "spool"), .init("scope", "narrower"),
        ]
        let record = AuditDetail(texts: texts, look: look).encoded()
        #expect(unsafe record.bytes.count < SealedCell.paddingBlock)
        look.isNew = false
        let facts = ReplyFacts(nextToken: .new, saysLifetime: true, idle: .max)
        let usual = AuditDetail(look: look, provider: .random(), fence: .max, facts: facts).encoded()
        #expect(unsafe usual.bytes.count < SealedCell.paddingBlock)
    }

    private struct Book: Decodable {
        struct Vector: Decodable {
            let name: String
            let record: String
            let texts: [String: String]
        }

        let details: [Vector]
    }

    /// Records that another program has written, which knows nothing but `docs/vault-format.md`.
    @Test func theVectorsAreReadAndWrittenTheSame() throws {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let url = tests.deletingLastPathComponent().appending(path: "VaultCryptoTests/Vectors/audit-1.json")
        let book = try JSONDecoder().decode(Book.self, from: Data(contentsOf: url))
        let provider = try #require(Bytes16(Self.bytes("00112233445566778899aabbccddeeff")))
        var renewal = LoginSnapshot(
            state: .established, generation: 7,
            token: .init(generation: 7, expiresAt: Self.instant.advanced(by: .seconds(3_600))))
        renewal.refreshExpiresAt = Self.instant.advanced(by: .seconds(86_400))
        renewal.grant = .init(
            since: Self.instant.advanced(by: .seconds(-86_400)), provider: ProviderHandle(provider))
        var death = LoginSnapshot(
            state: .refreshFailed(FailureRecord(reason: 1, at: Self.instant)), generation: 7,
            token: .init(generation: 5, expiresAt: nil))
        var end = LoginSnapshot(state: .terminated(1), generation: 8)
        var logOut = LoginSnapshot(state: nil, generation: 8)
        (death.isNew, end.isNew, logOut.isNew) = (true, true, true)
        let expected: [LoginSnapshot?] = [renewal, death, end, logOut, nil]
        #expect(book.details.count == expected.count)
        for (vector, look) in zip(book.details, expected) {
            let bytes = Self.bytes(vector.record)
            let detail = try unsafe bytes.withUnsafeBytes { try unsafe AuditDetail($0) }
            #expect(detail.look == look, "\(vector.name)")
            #expect(Dictionary(uniqueKeysWithValues: detail.texts.map { ($0.key, $0.value) }) == vector.texts)
            let written = detail.encoded()
            #expect(unsafe [UInt8](written.bytes) == bytes, "\(vector.name)")
        }
    }

    private static func bytes(_ hex: String) -> [UInt8] {
        stride(from: 0, to: hex.count, by: 2).compactMap { offset in
            let start = hex.index(hex.startIndex, offsetBy: offset)
            return UInt8(hex[start..<hex.index(start, offsetBy: 2)], radix: 16)
        }
    }

    @Test func anUnknownStateIsRefused() {
        var look = RecordWriter()
        look.append(1, 9 as UInt8)
        look.append(3, 1 as Int64)
        var record = RecordWriter()
        record.append(2, record: look)
        #expect(throws: VaultCryptoError.self) { try unsafe AuditDetail(record.bytes) }
    }
}
