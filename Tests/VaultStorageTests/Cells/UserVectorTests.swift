import Foundation
import TestSupport
import Testing
import VaultCrypto

@testable import VaultStorage

/// Users that another program has sealed, which knows nothing but `docs/vault-format.md`: one whose manifest is whole, and
/// one whose manifest lies in parts.
struct UserVectorTests {
    private struct Book: Decodable {
        struct Entry: Decodable {
            let login: String
            let revision: Int64
            let tag: String
        }

        struct User: Decodable {
            let userId, handle, blindIndex, cell: String
            let revision, auditSequence: Int64
            let bits: Int?
            let counts: [Int]?
            let parts: [String]?
            let logins: [Entry]
        }

        let vault, rootKey, rootKeyID: String
        let users: [User]
    }

    private static func book() throws -> Book {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let url = tests.deletingLastPathComponent().appending(path: "VaultCryptoTests/Vectors/users-1.json")
        return try JSONDecoder().decode(Book.self, from: Data(contentsOf: url))
    }

    private static func bytes16(_ hex: String) throws -> Bytes16 { try #require(Bytes16([UInt8](hex: hex))) }

    @Test(arguments: [0, 1]) func theUserOpensAndIsWrittenTheSame(_ number: Int) throws {
        let book = try Self.book()
        let expected = book.users[number]
        let vault = try Self.bytes16(book.vault)
        let rootID = KeyID(try Self.bytes16(book.rootKeyID))
        let root = try unsafe [UInt8](hex: book.rootKey).withUnsafeBytes {
            try unsafe SealingKey(id: rootID, copying: $0)
        }
        var columns = UserColumns(
            rowID: 1, handle: UserHandle(try Self.bytes16(expected.handle)),
            blindIndex: BlindIndex(try Self.bytes16(expected.blindIndex)), rootKey: rootID)
        columns.revision = expected.revision
        columns.auditSequence = expected.auditSequence
        let scratch = try CellScratch()
        try unsafe [UInt8](hex: expected.cell).withUnsafeBytes { cell in
            let opened = try unsafe SealedCell.Opened(
                cell, kind: .user, key: root, associatedData: columns.associatedData(vault), scratch: scratch)
            defer { opened.wipe(scratch) }
            let view = try unsafe UserCellView(opened.plaintext)
            #expect(view.userIdText == expected.userId)
            #expect(view.loginCount == expected.logins.count)
            #expect(view.parts?.bits == expected.bits)
            var entries = view.entries
            var user = try OpenUser(columns: columns, cell: view)
            for (number, text) in (expected.parts ?? []).enumerated() {
                let parts = try #require(view.parts)
                let part = [UInt8](hex: text)
                #expect(parts.loginCount(of: number) == expected.counts?[number])
                #expect(try SealedCell.tag(of: part) == parts.tag(of: number))
                let found = try unsafe Self.open(part, number, parts.bits, vault, columns, view.dataKey, scratch)
                entries += found
                user.manifest.open(number, found)
            }
            #expect(try entries == expected.logins.map(Self.entry))
            for entry in entries { #expect(user.manifest.entry(of: entry.login) == entry) }
            let record = user.record
            #expect(unsafe [UInt8](record.bytes) == [UInt8](opened.plaintext))
        }
    }

    private static func entry(_ entry: Book.Entry) throws -> ManifestEntry {
        ManifestEntry(
            login: LoginHandle(try bytes16(entry.login)), revision: entry.revision,
            tag: CellTag(try bytes16(entry.tag)))
    }

    private static func open(
        _ part: [UInt8], _ number: Int, _ bits: Int, _ vault: Bytes16, _ user: UserColumns,
        _ key: UnsafeRawBufferPointer, _ scratch: CellScratch
    ) throws -> [ManifestEntry] {
        try unsafe part.withUnsafeBytes { cell in
            let opened = try unsafe SealedCell.Opened(
                cell, kind: .manifestPart, key: key, keyID: KeyID(user.handle.bytes),
                associatedData: ManifestPart.associatedData(vault, user.handle, bits: bits, number: number),
                scratch: scratch)
            defer { opened.wipe(scratch) }
            let entries = try unsafe ManifestPart.entries(opened.plaintext, bits: bits, number: number)
            let written = ManifestPart.encoded(entries)
            #expect(unsafe [UInt8](written.bytes) == [UInt8](opened.plaintext))
            // In another part they do not belong.
            #expect(throws: VaultCryptoError.self) {
                try unsafe ManifestPart.entries(opened.plaintext, bits: bits, number: number ^ 1)
            }
            return entries
        }
    }

    @Test func aPartOutOfOrderIsRefused() throws {
        let entries = (0..<3).map { _ in
            ManifestEntry(login: .random(), revision: 1, tag: CellTag(.zero))
        }.sorted { $0.login.bytes < $1.login.bytes }
        for wrong in [Array(entries.reversed()), entries + [entries[2]]] {
            let record = ManifestPart.encoded(wrong)
            #expect(throws: VaultCryptoError.self) {
                try unsafe ManifestPart.entries(record.bytes, bits: 0, number: 0)
            }
        }
    }
}
