import Foundation
import TestSupport

@testable import VaultCrypto

extension VectorBook {
    static let fixedNonce = [UInt8](0..<24)

    /// Fields of every type; an absent value beside an empty one.
    static let sampleFields = [
        Field(type: "bytes", hex: Cells.bytes16(9).array.hex), Field(type: "text", text: "login"),
        Field(type: "integer", integer: -2), Field(type: "integer", integer: .max), Field(type: "nil"),
        Field(type: "bytes", hex: ""), Field(type: "text", text: "zoë"),
    ]

    static func encode(_ fields: [Field]) -> AssociatedData {
        var data = AssociatedData()
        for field in fields {
            switch field.type {
            case "integer": data.append(field.integer)
            case "bytes": data.append(bytes: [UInt8](hex: field.hex ?? ""))
            case "text": data.append(field.text)
            default: data.appendNil()
            }
        }
        return data
    }

    static func make(provenance: String, in directory: URL) throws -> VectorBook {
        let keyring = try Keyring.generate().addingPrimaryRoot(madeAt: 1_800_000_000_000)
        return VectorBook(
            provenance: provenance, cells: try makeCells(), records: [makeRecord()],
            blindIndexes: [
                makeIndex(keyring, "alice", .userId), makeIndex(keyring, "", .userId),
                makeIndex(keyring, "state", .authorizationState),
            ],
            auditLinks: [makeLink(keyring, .genesis), makeLink(keyring, makeMAC(keyring))],
            keyFiles: try (1...2).map { _ in try makeKeyFile(in: directory) },
            slots: [try makeKeyFileSlot(keyring, in: directory), try makePassphraseSlot(keyring)]
        )
    }

    /// Slots of the kinds that the first book does not have.
    static func makeNewerSlots(provenance: String) throws -> VectorBook {
        let keyring = try Keyring.generate().addingPrimaryRoot(madeAt: 1_800_000_000_000)
            .replacingIndexKey(at: 1_800_000_000_000)
        return VectorBook(
            provenance: provenance, cells: [], records: [], blindIndexes: [], auditLinks: [], keyFiles: [],
            slots: [
                try makeWrappedSlot(keyring, keyName: "projects/p/keys/k"), try makeWrappedSlot(keyring, keyName: nil),
                try makeRecipientSlot(keyring),
            ])
    }

    private static func makeWrappedSlot(_ keyring: Keyring, keyName: String?) throws -> Slot {
        let key = try unsafe SealingKey.slotKey { unsafe SecureRandom.fill($0) }
        let maker = FixedMaker(key: key, kind: .wrapped(SecureRandom.bytes(300), keyName: keyName))
        return try makeSlot(keyring, maker: maker, secret: key.hex, label: "KMS")
    }

    private static func makeRecipientSlot(_ keyring: Keyring) throws -> Slot {
        let line = String(
            decoding: unsafe SecureRandom.bytes(32).withUnsafeBytes {
                unsafe Bech32.encode($0, prefix: Identity.prefix)
            },
            as: UTF8.self)
        return try makeSlot(
            keyring, maker: IdentityUnlocker(SecretBytes(utf8: line)), secret: line, label: "recovery")
    }

    private static func makeCells() throws -> [Cell] {
        let counts = [0, 1, 100, 127, 128, 129, 1_100]
        let random = try zip(counts, CellKind.allCases).map { count, kind in
            try makeCell("random nonce", SecureRandom.bytes(count), kind, key: .generate(), nonce: nil)
        }
        let fixed = try makeCell(
            "fixed nonce", Array("one line of text".utf8), .refresh, key: Cells.key(), nonce: fixedNonce)
        return [fixed] + random
    }

    private static func makeCell(
        _ name: String, _ plaintext: [UInt8], _ kind: CellKind, key: SealingKey, nonce: [UInt8]?
    ) throws -> Cell {
        let place = encode(sampleFields)
        let cell =
            if let nonce {
                try Cells.sealDeterministically(plaintext, kind: kind, key: key, at: place, nonce: nonce)
            } else {
                try Cells.seal(plaintext, kind: kind, key: key, at: place)
            }
        return Cell(
            name: name, kind: "\(kind)", key: key.hex, keyID: key.id.bytes.array.hex,
            associatedData: sampleFields, plaintext: plaintext.hex, cell: cell.hex)
    }

    private static func makeRecord() -> Record {
        var writer = RecordWriter()
        writer.append(1, 200 as UInt8)
        writer.append(2, Int64.min)
        writer.append(3, String(repeating: "é", count: 100))
        writer.append(200, "")
        let bytes = unsafe [UInt8](writer.bytes)
        let text = String(repeating: "c3a9", count: 100)
        return Record(
            record: bytes.hex,
            fields: [
                RecordField(tag: 1, hex: "c8"), RecordField(tag: 2, hex: "0000000000000080"),
                RecordField(tag: 3, hex: text), RecordField(tag: 200, hex: ""),
            ])
    }

    private static func makeIndex(_ keyring: Keyring, _ value: String, _ domain: Keyring.IndexDomain) -> BlindIndex {
        let bytes = Array(value.utf8)
        let index = unsafe bytes.withUnsafeBytes { unsafe keyring.blindIndex(of: $0, domain: domain) }
        return BlindIndex(
            domain: "\(domain)", key: keyring.indexKey.hex, value: bytes.hex, index: index.bytes.array.hex)
    }

    private static func makeMAC(_ keyring: Keyring) -> AuditMAC {
        keyring.auditMAC(previous: .genesis, row: encode(sampleFields))
    }

    private static func makeLink(_ keyring: Keyring, _ previous: AuditMAC) -> AuditLink {
        AuditLink(
            key: keyring.auditKey.hex, previous: previous.array.hex, associatedData: sampleFields,
            mac: keyring.auditMAC(previous: previous, row: encode(sampleFields)).array.hex)
    }

    private static func makeKeyFile(in directory: URL) throws -> KeyFile {
        let path = directory.appending(path: UUID().uuidString).path
        let key = try VaultCrypto.KeyFile.create(at: path)
        let text = try String(contentsOfFile: path, encoding: .utf8)
        return KeyFile(text: text, key: key.hex, keyID: key.id.bytes.array.hex)
    }

    private static func makeKeyFileSlot(_ keyring: Keyring, in directory: URL) throws -> Slot {
        let path = directory.appending(path: UUID().uuidString).path
        _ = try VaultCrypto.KeyFile.create(at: path)
        let text = try String(contentsOfFile: path, encoding: .utf8)
        return try makeSlot(keyring, maker: KeyFileUnlocker(path: path), secret: text, label: "")
    }

    private static func makePassphraseSlot(_ keyring: Keyring) throws -> Slot {
        let passphrase = "correct horse – battery"
        let maker = try PassphraseUnlocker(SecretBytes(utf8: passphrase), cost: .minimum)
        return try makeSlot(keyring, maker: maker, secret: passphrase, label: "für den Notfall")
    }

    private static func makeSlot(
        _ keyring: Keyring, maker: any SlotMaker, secret: String, label: String
    ) throws -> Slot {
        let vault = SecureRandom.bytes16()
        let vaultKey = try SealingKey.generate()
        let slot = try KeySlot.wrap(
            vaultKey, for: maker, id: SecureRandom.bytes16(), label: label, createdAt: 1_800_000_000_000, vault: vault)
        let description = slot.description
        var fields = SlotFields(
            vault: vault.array.hex, id: description.id.array.hex, keyID: description.keyID.bytes.array.hex,
            kind: description.kind.code, label: label, createdAt: description.createdAt)
        if case .passphrase(let salt, let cost) = description.kind {
            fields.salt = salt.array.hex
            fields.passes = cost.operations
            fields.memoryKiB = cost.memoryKiB
        }
        switch description.kind {
        case .wrapped(let blob, let keyName):
            fields.wrappedKey = blob.hex
            fields.keyName = keyName
        case .recipient(let recipient, let share):
            fields.recipient = recipient.bytes.hex
            fields.share = share.hex
        case .keyFile, .passphrase: break
        }
        let keyringCell = try keyring.seal(under: vaultKey, associatedData: encode(sampleFields))
        return Slot(
            slot: fields, secret: secret, cell: slot.wrappedVaultKey.hex, vaultKey: vaultKey.hex,
            vaultKeyID: vaultKey.id.bytes.array.hex, keyring: keyringCell.hex, associatedData: sampleFields,
            primaryRoot: keyring.primaryRoot.hex, retiredRoot: keyring.retiredRoots.first?.hex ?? "")
    }
}

/// A slot of a key that is known beforehand.
private struct FixedMaker: SlotMaker {
    let key: SealingKey
    let kind: KeySlotDescription.Kind

    func makeSlot(
        id: Bytes16, label: String, createdAt: Int64
    ) throws(VaultCryptoError) -> (description: KeySlotDescription, key: SealingKey) {
        (try KeySlotDescription(id: id, keyID: key.id, kind: kind, label: label, createdAt: createdAt), key)
    }
}

extension SealingKey {
    /// For throw-away keys only.
    fileprivate var hex: String { unsafe withUnsafeBytes { unsafe [UInt8]($0).hex } }
}
