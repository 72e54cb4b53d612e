import Foundation
import TestSupport
import Testing

@testable import VaultCrypto

struct AgeWriterTests {
    private let identity: Identity

    init() throws {
        let text = "AGE-SECRET-KEY-1RDN7R9XEVUCWH3PWS8LSCPHXWZGVR989USXH5WSM4LXHR976FH4SPQF8X6"
        identity = try #require(try Identity.parse(SecretBytes(utf8: text)).first)
    }

    /// <https://age-encryption.org/v1>: a version, two lines for each recipient, the MAC, and a nonce of 16 bytes.
    @Test func theHeaderHasAStanzaForEachRecipient() throws {
        let header = try AgeWriter(for: [identity.recipient, identity.recipient]).header
        let text = String(decoding: header.dropLast(16), as: UTF8.self)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.count == 7 && lines[0] == "age-encryption.org/v1" && lines[6].isEmpty)
        for line in [1, 3] {
            let share = try #require(lines[line].wholeMatch(of: /-> X25519 ([A-Za-z0-9+\/]{43})/)?.output.1)
            let body = [UInt8](try #require(Data(base64Encoded: lines[line + 1] + "=")))
            let bytes = [UInt8](try #require(Data(base64Encoded: share + "=")))
            let key = try #require(identity.slotKey(share: bytes))
            #expect(AgeTool.opensFileKey(body, with: key))
        }
        #expect(lines[5].wholeMatch(of: /--- [A-Za-z0-9+\/]{43}/) != nil)
        // Each has a share of its own.
        #expect(lines[1] != lines[3])
    }

    @Test func thereMustBeARecipient() {
        #expect(throws: VaultCryptoError.self) { try AgeWriter(for: []) }
    }

    /// Chunks of 64 KiB and their tags; an empty last chunk only where nothing else is.
    @Test(arguments: [(0, 1), (1, 1), (65_535, 1), (65_536, 1), (65_537, 2), (131_072, 2), (200_000, 4)])
    func thereAreAsManyChunksAsAreNeeded(_ count: Int, _ chunks: Int) throws {
        let writer = try AgeWriter(for: [identity.recipient])
        let sealed = writer.seal([UInt8](repeating: 7, count: count)) + writer.finish()
        #expect(sealed.count == count + chunks * AgeChunk.overhead)
    }

    @Test func piecesMakeNoDifferenceToTheLength() throws {
        let writer = try AgeWriter(for: [identity.recipient])
        var sealed: [UInt8] = []
        for _ in 0..<1_000 { sealed += writer.seal([UInt8](repeating: 7, count: 131)) }
        #expect(sealed.count == 65_552, "the second chunk is not full")
        sealed += writer.finish()
        #expect(sealed.count == 131_000 + 2 * AgeChunk.overhead)
    }

    /// RFC 5869, Appendix A.1 and A.3, the first block.
    @Test func keysAreDerivedAsTheRFCSays() {
        let cases = [
            (
                "0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b", "000102030405060708090a0b0c", "f0f1f2f3f4f5f6f7f8f9",
                "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf"
            ),
            (
                "0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b", "", "",
                "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d"
            ),
        ]
        for (secret, salt, info, expected) in cases {
            var key = [UInt8](repeating: 0, count: 32)
            unsafe [UInt8](hex: secret).withUnsafeBytes { secret in
                unsafe key.withUnsafeMutableBytes {
                    unsafe HKDF.derive(secret, salt: [UInt8](hex: salt), info: [UInt8](hex: info), into: $0)
                }
            }
            #expect(key.hex == expected)
        }
    }
}

/// Files that Debian's age opens.
@Suite(.enabled(if: AgeTool.isThere))
struct AgeFileInteroperationTests {
    @Test(arguments: [0, 1, 65_535, 65_536, 65_537, 131_072, 300_001])
    func ageOpensTheFileForEachRecipient(_ count: Int) throws {
        let directory = try PrivateDirectory()
        let identities = try (0..<3).map { _ in try AgeTool.keygen() }
        let recipients = try identities.flatMap { try Identity.parse(SecretBytes(utf8: $0)).map(\.recipient) }
        let writer = try AgeWriter(for: recipients)
        let plain = SecureRandom.bytes(count)
        var sealed = writer.header
        for start in stride(from: 0, to: count, by: 7_919) {
            sealed += writer.seal(Array(plain[start..<min(start + 7_919, count)]))
        }
        sealed += writer.finish()
        for identity in identities {
            #expect(try AgeTool.decrypt(sealed, identity: identity, in: directory) == plain)
        }
        let stranger = try AgeTool.keygen()
        #expect(try AgeTool.decrypt(sealed, identity: stranger, in: directory) == nil)
        var changed = sealed
        changed[changed.count - 1] ^= 1
        #expect(try AgeTool.decrypt(changed, identity: identities[0], in: directory) == nil)
        #expect(try AgeTool.decrypt(sealed.dropLast(), identity: identities[0], in: directory) == nil)
    }
}
