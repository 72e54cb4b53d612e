import Foundation
import Testing
import VaultCrypto

@testable import VaultStorage

/// Session records byte for byte, as `scripts/vectors` reads them too.
struct SessionVectorTests {
    private struct Book: Decodable {
        struct Vector: Decodable {
            let name: String
            let record: String
        }

        let sessions: [Vector]
    }

    private static func record(_ name: String) throws -> [UInt8] {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let url = tests.deletingLastPathComponent().appending(path: "VaultCryptoTests/Vectors/sessions-1.json")
        let book = try JSONDecoder().decode(Book.self, from: Data(contentsOf: url))
        let hex = try #require(book.sessions.first { $0.name == name }).record
        return stride(from: 0, to: hex.count, by: 2).compactMap { offset in
            let start = hex.index(hex.startIndex, offsetBy: offset)
            return UInt8(hex[start..<hex.index(start, offsetBy: 2)], radix: 16)
        }
    }

    private static func read(_ bytes: [UInt8]) throws -> SessionRecord {
        try unsafe bytes.withUnsafeBytes { try unsafe SessionRecord($0) }
    }

    private static func written(_ session: SessionRecord) -> [UInt8] {
        let record = session.encoded()
        return unsafe [UInt8](record.bytes)
    }

    private static func time(_ milliseconds: Int64) -> Timestamp {
        Timestamp(milliseconds: 1_800_000_000_000 + milliseconds)
    }

    /// The last refusal byte for byte: field 128, with a record in it.
    @Test func aRefusalIsAFieldThatOlderVersionsPassOver() throws {
        var session = Self.plain
        let before = Self.written(session)
        session.lastRefusal = RefusalRecord(
            at: Timestamp(milliseconds: 0x0102), status: 400, error: SecretBytes(utf8: "invalid_grant"),
            message: SecretBytes(utf8: "no"))
        let bytes = Self.written(session)
        let record: [UInt8] =
            [1, 8, 2, 1, 0, 0, 0, 0, 0, 0, 2, 8, 0x90, 1, 0, 0, 0, 0, 0, 0, 3, 13] + Array("invalid_grant".utf8)
            + [4, 2] + Array("no".utf8)
        #expect(bytes == before + [128, UInt8(record.count)] + record)
        #expect(try Self.read(bytes) == session)
        // What an older version does with it: it reads the rest.
        #expect(RecordField.firstOptionalTag == 128)
        session.lastRefusal = RefusalRecord(at: Self.time(0), status: nil, error: nil, message: nil)
        #expect(try Self.read(Self.written(session)) == session)
        #expect(!"\(session)".contains("invalid_grant"))
    }

    private static var plain: SessionRecord {
        var session = SessionRecord(
            state: .established, accessToken: SecretBytes(utf8: "CANARY-access"), scope: "read write",
            createdAt: time(0), obtainedAt: time(0), expiresAt: time(3_600_000))
        session.label = "phone"
        session.grantedScope = "read write"
        session.subject = "subject-1"
        return session
    }

    private static var full: SessionRecord {
        var session = plain
        session.tokenType = "DPoP"
        var mail = TokenRecord(
            target: TokenTarget(resource: "https://mail.example", scope: "read"),
            accessToken: SecretBytes(utf8: "CANARY-access-mail-" + String(repeating: "x", count: 130)),
            tokenType: "DPoP", scope: "read", obtainedAt: time(2_000), expiresAt: time(602_000), generation: 3)
        mail.isExpiryAssumed = true
        mail.isRejected = true
        session.resourceTokens = [
            TokenRecord(
                target: TokenTarget(resource: "https://api.example/v1"),
                accessToken: SecretBytes(utf8: "CANARY-access-api"), obtainedAt: time(1_000),
                expiresAt: time(301_000), generation: 2),
            mail,
            TokenRecord(
                target: TokenTarget(scope: "write"), accessToken: SecretBytes(utf8: "CANARY-access-narrow"),
                obtainedAt: time(3_000), generation: 4),
        ]
        session.accessGeneration = 1
        session.attributes = ["org": "4711", "instance_url": "https://eu1.example"]
        session.isExpiryAssumed = true
        return session
    }

    @Test(arguments: [("without tokens for resources", plain), ("with tokens for resources", full)])
    func aSessionIsWrittenAsDocumented(_ name: String, _ session: SessionRecord) throws {
        let bytes = try Self.record(name)
        #expect(try Self.read(bytes) == session)
        #expect(Self.written(session) == bytes)
    }

    @Test func noTokenForAResourceCostsNoByte() throws {
        var session = Self.full
        session.resourceTokens = []
        session.accessGeneration = nil
        session.attributes = [:]
        session.isExpiryAssumed = false
        session.tokenType = "Bearer"
        #expect(Self.written(session) == Self.written(Self.plain))
    }

    @Test func aTokenForNothingIsRefused() throws {
        var session = Self.plain
        session.resourceTokens = [
            TokenRecord(
                target: TokenTarget(), accessToken: SecretBytes(utf8: "CANARY"), obtainedAt: Self.time(0), generation: 1
            )
        ]
        #expect(throws: VaultCryptoError.self) { try Self.read(Self.written(session)) }
    }

    @Test func everyCutIsRefusedOrAnotherSession() throws {
        let bytes = Self.written(Self.full)
        for length in 0..<bytes.count {
            #expect((try? Self.read(Array(bytes[..<length]))) != Self.full)
        }
    }
}
