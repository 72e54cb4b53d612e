import Foundation
import TestSupport
import Testing
import VaultCrypto

@testable import VaultSQLite
@testable import VaultStorage

/// A manifest that another program has sealed, which knows nothing but `docs/vault-format.md`.
struct ManifestVectorTests {
    private struct Book: Decodable {
        struct Entry: Decodable {
            let handle: String
            let tag: String
        }

        struct Addressee: Decodable {
            let handle: String
            let recipient: String
        }

        struct Proof: Decodable {
            let handle: String
            let provenAt: Int64
        }

        struct LockFile: Decodable {
            let id: String
            let inode: UInt64
            let number: Int64
        }

        let key, keyID, vault, keyringTag, cell: String
        let incarnation, createdAt, revision, auditSequence: Int64
        let keySlots, providers: [Entry]
        let recipients: [Addressee]?
        let proofs: [Proof]?
        let lockFiles: [LockFile]?
    }

    private static func book(_ number: Int = 1) throws -> Book {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let url = tests.deletingLastPathComponent().appending(path: "VaultCryptoTests/Vectors/manifest-\(number).json")
        return try JSONDecoder().decode(Book.self, from: Data(contentsOf: url))
    }

    private static func bytes16(_ hex: String) throws -> Bytes16 { try #require(Bytes16([UInt8](hex: hex))) }

    /// Any: what seals the manifest does not depend on it.
    private static func slot(_ key: KeyID) throws -> ProvenKeySlot {
        let description = try KeySlotDescription(
            id: SecureRandom.bytes16(), keyID: key, kind: .keyFile, label: "", createdAt: 1)
        return try ProvenKeySlot(
            KeySlot(description: description, wrappedVaultKey: [UInt8](hex: book().cell)))
    }

    /// The second one has recipients, and keys that were seen to open a slot.
    @Test(arguments: [1, 2]) func theManifestOpensAndIsWrittenTheSame(_ number: Int) throws {
        let book = try Self.book(number)
        let keyID = KeyID(try Self.bytes16(book.keyID))
        let key = try unsafe [UInt8](hex: book.key).withUnsafeBytes { try unsafe SealingKey(id: keyID, copying: $0) }
        let row = VaultRow(
            incarnation: book.incarnation, createdAt: Timestamp(milliseconds: book.createdAt), revision: book.revision,
            auditSequence: book.auditSequence, keyring: try .generate(),
            keyringTag: CellTag(try Self.bytes16(book.keyringTag)), manifest: VaultManifest(),
            opened: OpenedSlot(vaultKey: key, slot: try Self.slot(keyID)))
        let cell = [UInt8](hex: book.cell)
        let vault = try Self.bytes16(book.vault)
        let scratch = try CellScratch()
        let manifest = try unsafe cell.withUnsafeBytes { cell in
            let opened = try unsafe SealedCell.Opened(
                cell, kind: .manifest, key: key, associatedData: row.manifestData(vault), scratch: scratch)
            defer { opened.wipe(scratch) }
            let manifest = try unsafe VaultManifest(opened.plaintext)
            let written = manifest.encoded()
            #expect(unsafe [UInt8](written.bytes) == [UInt8](opened.plaintext))
            return manifest
        }
        for (entries, expected) in [(manifest.keySlots, book.keySlots), (manifest.providers, book.providers)] {
            #expect(try entries.handles == expected.map { try Self.bytes16($0.handle) })
            for entry in expected {
                #expect(entries[try Self.bytes16(entry.handle)]?.bytes == (try Self.bytes16(entry.tag)))
            }
            #expect(entries[.zero] == nil)
        }
        let (recipients, proofs) = (book.recipients ?? [], book.proofs ?? [])
        #expect(recipients.count == manifest.recipients.count && proofs.count == manifest.proofs.count)
        for entry in recipients {
            #expect(
                manifest.recipients[try Self.bytes16(entry.handle)]?.bytes == [UInt8](hex: entry.recipient))
        }
        for entry in proofs {
            #expect(manifest.proofs[try Self.bytes16(entry.handle)]?.milliseconds == entry.provenAt)
        }
        #expect((number == 2) == !recipients.isEmpty && (number == 2) == !proofs.isEmpty)
    }

    @Test func entriesOutOfOrderAreRefused() throws {
        var manifest = VaultManifest()
        for number in 1...3 {
            manifest.providers[try Self.bytes16("\(number)" + String(repeating: "0", count: 31))] = .zero
        }
        let record = manifest.encoded()
        let bytes = unsafe [UInt8](record.bytes)
        let swapped = Array(bytes[..<4]) + Array(bytes[36..<68]) + Array(bytes[4..<36]) + Array(bytes[68...])
        #expect(try unsafe bytes.withUnsafeBytes { try unsafe VaultManifest($0) } == manifest)
        for wrong in [swapped, Array(bytes.dropLast())] {
            #expect(throws: VaultCryptoError.self) { try unsafe wrong.withUnsafeBytes { try unsafe VaultManifest($0) } }
        }
    }

    @Test func lockFilesAreNumberedAsDocumented() throws {
        for file in try #require(Self.book().lockFiles) {
            #expect(OwnerLock.number(ofFile: try Self.bytes16(file.id), inode: file.inode) == file.number)
        }
    }
}

extension CellTag {
    fileprivate static let zero = CellTag(.zero)
}
