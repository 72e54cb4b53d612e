import Foundation
import Testing
import VaultCrypto

@testable import VaultStorage

/// A spool file byte for byte, as `scripts/vectors` reads it too.
struct SpoolVectorTests {
    private struct Book: Codable {
        struct Entry: Codable {
            let entry: String
            let login: String
            let chain: Int64
            let generation: Int64
            let fence: Int64
            let reply: Reply
        }

        struct Reply: Codable, Equatable {
            let user: String
            let provider: String?
            let accessToken: String?
            let tokenType: String
            let scope: String?
            let obtainedAt: Int64
            let expiresAt: Int64?
            let refreshToken: String?
            let refreshExpiresAt: Int64?
            let idToken: String?
            let dpopPrivateKey: String?
            let nonces: [String: String]?
            let resource: String?
            let requestedScope: String?
        }

        var format = 1
        let provenance: String
        let key: String
        let keyID: String
        let vault: String
        /// Without the zeros at their ends.
        let pages: [String]
        let entries: [Entry]
        let torn: Int
    }

    private static func bytes(_ hex: String) -> [UInt8] {
        let digits: [Int] = hex.compactMap(\.hexDigitValue)
        return stride(from: 0, to: digits.count, by: 2).map { (index: Int) -> UInt8 in
            UInt8(digits[index] * 16 + digits[index + 1])
        }
    }

    private static func hex(_ bytes: some Sequence<UInt8>) -> String {
        bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }

    private static func text(_ secret: SecretBytes?) -> String? { secret?.string() }

    private static func reply(_ reply: SpooledReply) -> Book.Reply {
        Book.Reply(
            user: hex(reply.user.bytes.array), provider: reply.provider.map { hex($0.bytes.array) },
            accessToken: text(reply.accessToken), tokenType: reply.tokenType, scope: reply.scope,
            obtainedAt: reply.obtainedAt.milliseconds, expiresAt: reply.expiresAt?.milliseconds,
            refreshToken: text(reply.refreshToken), refreshExpiresAt: reply.refreshExpiresAt?.milliseconds,
            idToken: text(reply.idToken), dpopPrivateKey: text(reply.dpopPrivateKey),
            nonces: reply.nonces.isEmpty ? nil : reply.nonces, resource: reply.resource,
            requestedScope: reply.requestedScope)
    }

    @Test func theGoldenSpoolFileIsReadAsDocumented() throws {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let url = tests.appending(path: "VaultCryptoTests/Vectors/spool-1.json")
        let book = try JSONDecoder().decode(Book.self, from: Data(contentsOf: url))
        let file = book.pages.flatMap { page in
            let bytes = Self.bytes(page)
            return bytes + [UInt8](repeating: 0, count: SpoolFrame.pageByteCount - bytes.count)
        }
        let keyID = KeyID(try #require(Bytes16(Self.bytes(book.keyID))))
        let key = try unsafe Self.bytes(book.key).withUnsafeBytes { try unsafe SealingKey(id: keyID, copying: $0) }
        let pieces = SpoolImage(file).pieces
        #expect(pieces.count { $0.cell == nil } == book.torn)
        let whole = pieces.filter { $0.cell != nil }
        #expect(whole.count == book.entries.count && book.entries.count == 2)
        for (piece, entry) in zip(whole, book.entries) {
            let head = try #require(piece.head)
            #expect(Self.hex(head.vault.array) == book.vault && Self.hex(head.entry.array) == entry.entry)
            #expect(Self.hex(head.login.bytes.array) == entry.login && head.fence == entry.fence)
            #expect(head.position == ChainPosition(chain: entry.chain, generation: entry.generation))
            let opened = try unsafe Array(file[try #require(piece.cell)]).withUnsafeBytes { cell in
                try unsafe SealedCell.open(cell, kind: .spool, key: key, associatedData: head.associatedData()) {
                    try unsafe SpooledReply($0, head: head)
                }
            }
            #expect(Self.reply(opened) == entry.reply)
        }
    }

    /// For the independent reader, `scripts/vectors/check_vectors.py`.
    @Test(.enabled(if: ProcessInfo.processInfo.environment["TOKENVAULT_VECTOR_OUT"] != nil))
    func aFreshSpoolFileIsWrittenForTheIndependentReader() throws {
        let path = try #require(ProcessInfo.processInfo.environment["TOKENVAULT_VECTOR_OUT"])
        let secret = SecureRandom.bytes(SealingKey.byteCount)
        let keyID = KeyID(SecureRandom.bytes16())
        let key = try unsafe secret.withUnsafeBytes { try unsafe SealingKey(id: keyID, copying: $0) }
        let vault = SecureRandom.bytes16()
        var long = SpooledReply.sample("long", generation: 2)
        long.accessToken = SecretBytes(utf8: String(repeating: "a", count: 4000))
        let bare = SpooledReply(
            login: .random(), user: .random(), provider: nil, position: .first, fence: 1,
            accessToken: .canary("access"), tokenType: "Bearer", obtainedAt: Timestamp(milliseconds: 1_800_000_000_000))
        var file: [UInt8] = []
        var entries: [Book.Entry] = []
        for reply in [long, bare, .sample("torn"), .sample("removed")] {
            let head = SpoolFrame.Head(
                vault: vault, entry: SecureRandom.bytes16(), login: reply.login, position: reply.position,
                fence: reply.fence)
            let cell = try SealedCell.seal(
                reply.encoded(), kind: .spool, key: key, associatedData: head.associatedData())
            var frame = SpoolFrame.bytes(head, cell: cell)
            switch reply.accessToken {
            case .canary("access-torn"): frame[400..<450] = [UInt8](repeating: 0, count: 50)[...]
            case .canary("access-removed"):
                frame.replaceSubrange(..<512, with: SpoolFrame.tombstone(head, cellByteCount: cell.count))
            default:
                entries.append(
                    Book.Entry(
                        entry: Self.hex(head.entry.array), login: Self.hex(reply.login.bytes.array),
                        chain: reply.position.chain, generation: reply.position.generation, fence: reply.fence,
                        reply: Self.reply(reply)))
            }
            file += frame
        }
        file += [UInt8](repeating: 0, count: SpoolFrame.pageByteCount)
        let pages = stride(from: 0, to: file.count, by: SpoolFrame.pageByteCount).map { start in
            let page = file[start..<start + SpoolFrame.pageByteCount]
            return Self.hex(page.prefix(upTo: page.lastIndex { $0 != 0 }.map { $0 + 1 } ?? start))
        }
        let book = Book(
            provenance: "written by VaultStorageTests with a throw-away key", key: Self.hex(secret),
            keyID: Self.hex(keyID.bytes.array), vault: Self.hex(vault.array), pages: pages, entries: entries, torn: 1)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        try encoder.encode(book).write(to: URL(filePath: path).appending(path: "fresh-spool.json"))
    }
}
