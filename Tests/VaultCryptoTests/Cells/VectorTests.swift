import Foundation
import TestSupport
import Testing

@testable import VaultCrypto

struct VectorTests {
    private static func golden(_ name: String = "golden-1") throws -> VectorBook {
        let url = try #require(
            Bundle.module.url(forResource: name, withExtension: "json", subdirectory: "Vectors"))
        return try JSONDecoder().decode(VectorBook.self, from: Data(contentsOf: url))
    }

    private static func kind(_ name: String) throws -> CellKind {
        try #require(CellKind.allCases.first { "\($0)" == name })
    }

    private static func key(_ hex: String, id: String) throws -> SealingKey {
        let id = try #require(Bytes16([UInt8](hex: id)))
        return try unsafe [UInt8](hex: hex).withUnsafeBytes { try unsafe SealingKey(id: KeyID(id), copying: $0) }
    }

    @Test func everyGoldenCellOpens() throws {
        for vector in try Self.golden().cells {
            let plaintext = try Cells.open(
                [UInt8](hex: vector.cell), kind: Self.kind(vector.kind), key: Self.key(vector.key, id: vector.keyID),
                at: VectorBook.encode(vector.associatedData))
            #expect(plaintext.hex == vector.plaintext)
        }
    }

    @Test func theCellWithTheFixedNonceIsMadeAgainBitForBit() throws {
        let vector = try #require(try Self.golden().cells.first { $0.name == "fixed nonce" })
        let cell = try Cells.sealDeterministically(
            [UInt8](hex: vector.plaintext), kind: Self.kind(vector.kind), key: Self.key(vector.key, id: vector.keyID),
            at: VectorBook.encode(vector.associatedData), nonce: VectorBook.fixedNonce)
        #expect(cell.hex == vector.cell)
    }

    @Test func everyGoldenSlotAndKeyringOpens() throws {
        for vector in try Self.golden().slots + Self.golden("slots-2").slots {
            let slot = try vector.slot.keySlot(cell: vector.cell)
            let unlocker: any SlotUnlocker
            switch slot.description.kind {
            case .passphrase: unlocker = try PassphraseUnlocker(SecretBytes(utf8: vector.secret))
            case .keyFile: unlocker = TextUnlocker(text: vector.secret)
            case .wrapped: unlocker = HexUnlocker(hex: vector.secret)
            case .recipient: unlocker = try IdentityUnlocker(SecretBytes(utf8: vector.secret))
            }
            let vault = try #require(Bytes16([UInt8](hex: vector.slot.vault)))
            let vaultKey = try KeySlot.unlock([slot], with: unlocker, vault: vault).vaultKey
            #expect(unsafe vaultKey.withUnsafeBytes { unsafe [UInt8]($0).hex } == vector.vaultKey)
            let keyring = try Keyring.open(
                [UInt8](hex: vector.keyring), under: vaultKey,
                associatedData: VectorBook.encode(vector.associatedData))
            #expect(unsafe keyring.primaryRoot.withUnsafeBytes { unsafe [UInt8]($0).hex } == vector.primaryRoot)
        }
    }

    @Test func goldenIndexesAndLinksAreTheSame() throws {
        let book = try Self.golden()
        for vector in book.blindIndexes {
            let keyring = try Self.keyring(index: vector.key, audit: vector.key)
            let domain: Keyring.IndexDomain = vector.domain == "userId" ? .userId : .authorizationState
            let index = unsafe [UInt8](hex: vector.value).withUnsafeBytes {
                unsafe keyring.blindIndex(of: $0, domain: domain)
            }
            #expect(index.bytes.array.hex == vector.index)
        }
        for vector in book.auditLinks {
            let keyring = try Self.keyring(index: vector.key, audit: vector.key)
            let previous = try #require(unsafe [UInt8](hex: vector.previous).withUnsafeBytes { unsafe AuditMAC($0) })
            let mac = keyring.auditMAC(previous: previous, row: VectorBook.encode(vector.associatedData))
            #expect(mac.array.hex == vector.mac)
        }
    }

    /// Cells for the independent reader, `scripts/proofs/vectors/check_vectors.py`.
    @Test(.enabled(if: ProcessInfo.processInfo.environment["TOKENVAULT_VECTOR_OUT"] != nil))
    func freshVectorsAreWrittenForTheIndependentReader() throws {
        let path = try #require(ProcessInfo.processInfo.environment["TOKENVAULT_VECTOR_OUT"])
        let keys = try PrivateDirectory()
        let book = try VectorBook.make(
            provenance: "written by VaultCryptoTests with throw-away keys", in: URL(filePath: keys.path))
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        try encoder.encode(book).write(to: URL(filePath: path).appending(path: "fresh-cells.json"))
        let slots = try VectorBook.makeNewerSlots(provenance: book.provenance)
        try encoder.encode(slots).write(to: URL(filePath: path).appending(path: "fresh-slots.json"))
    }

    private static func keyring(index: String, audit: String) throws -> Keyring {
        let id = String(repeating: "0", count: 32)
        return Keyring(
            primaryRoot: try .generate(), retiredRoots: [], indexKey: try key(index, id: id),
            auditKey: try key(audit, id: id))
    }
}

/// The key of a key file's text that lies in no file.
private struct TextUnlocker: SlotUnlocker {
    let text: String

    func slotKey(for slot: KeySlotDescription) throws(VaultCryptoError) -> SealingKey? {
        let key = try KeyFileLine.decode(SecretBytes(utf8: text))
        return key.id == slot.keyID ? key : nil
    }
}

/// What an operator's program gave for the wrapped key.
private struct HexUnlocker: SlotUnlocker {
    let hex: String

    func slotKey(for slot: KeySlotDescription) throws(VaultCryptoError) -> SealingKey? {
        let key = try unsafe SealingKey.slotKey { unsafe $0.copyBytes(from: [UInt8](hex: hex)) }
        return key.id == slot.keyID ? key : nil
    }
}

extension VectorBook.SlotFields {
    fileprivate func keySlot(cell: String) throws -> KeySlot {
        var kind = KeySlotDescription.Kind.keyFile
        if let salt, let passes, let memoryKiB {
            kind = .passphrase(
                salt: try #require(Bytes16([UInt8](hex: salt))),
                cost: try Argon2Cost(operations: passes, memoryKiB: memoryKiB))
        }
        if let wrappedKey { kind = .wrapped([UInt8](hex: wrappedKey), keyName: keyName) }
        if let recipient, let share {
            kind = .recipient(try #require(Recipient([UInt8](hex: recipient))), share: [UInt8](hex: share))
        }
        let description = try KeySlotDescription(
            id: try #require(Bytes16([UInt8](hex: id))), keyID: KeyID(try #require(Bytes16([UInt8](hex: keyID)))),
            kind: kind, label: label, createdAt: createdAt)
        return KeySlot(description: description, wrappedVaultKey: [UInt8](hex: cell))
    }
}
