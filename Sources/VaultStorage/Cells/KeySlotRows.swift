package import VaultCrypto

/// The rows of the key slots, which are read before any key is available.
package enum KeySlotRows {
    /// The readable slots, and the error of the first unreadable one: a damaged slot must not block the others. At most
    /// the vault's maximum number of slots is read of each kind.
    static func all(_ tables: any TableAccess) throws(StoreError) -> (slots: [KeySlot], damage: StoreError?) {
        let row = try tables.cursor(.keySlotsFrom)
        defer { row.reset() }
        row.bind(1, .min)
        row.bind(2, .max)
        var slots: [KeySlot] = []
        var damage: StoreError?
        var counts: [Int64: Int] = [:]
        while try row.step() {
            counts[row.integer(1), default: 0] += 1
            guard counts[row.integer(1), default: 0] <= KeySlot.maximumCount else {
                damage = damage ?? tooMany
                continue
            }
            do throws(StoreError) { slots.append(try slot(row)) } catch { damage = damage ?? error }
        }
        return (slots, damage)
    }

    private static var tooMany: StoreError {
        .quarantined("keySlot", nil, "there are more than \(KeySlot.maximumCount) of them, and not all were tried")
    }

    /// Reads a row that is laid out as ``Query/keySlotsFrom``.
    package static func slot(_ row: any RowCursor) throws(StoreError) -> KeySlot {
        guard let id = row.bytes16(0), let keyID = row.bytes16(2) else {
            throw .quarantined("keySlot", row.bytes16(0), "a column has the wrong type or length")
        }
        do throws(VaultCryptoError) {
            let description = try KeySlotDescription(
                id: id, keyID: KeyID(keyID), kind: try kind(row), label: row.text(6), createdAt: row.integer(7))
            return KeySlot(description: description, wrappedVaultKey: row.bytes(8))
        } catch {
            throw .quarantined("keySlot", id, error)
        }
    }

    private static func kind(_ row: any RowCursor) throws(VaultCryptoError) -> KeySlotDescription.Kind {
        let code = row.integer(1)
        let foreign = parameters.filter { $0.kind != code && !row.isNull($0.column) }
        guard foreign.isEmpty || !(1...4).contains(code) else {
            throw VaultCryptoError(.malformedRecord, "the slot has parameters of another kind")
        }
        switch code {
        case 1: return .keyFile
        case 2:
            guard let salt = row.bytes16(3), let operations = UInt32(exactly: row.integer(4)),
                let memory = UInt32(exactly: row.integer(5))
            else { throw VaultCryptoError(.malformedRecord, "a passphrase slot lacks a parameter") }
            return .passphrase(salt: salt, cost: try Argon2Cost(operations: operations, memoryKiB: memory))
        case 3:
            let blob = row.bytes(Parameter.wrappedKey)
            guard (1...KeySlotDescription.maximumWrappedByteCount).contains(blob.count) else {
                throw VaultCryptoError(.malformedRecord, "a wrapped slot has no wrapped key, or one that is too long")
            }
            let name = row.isNull(Parameter.keyName) ? nil : row.text(Parameter.keyName)
            return .wrapped(blob, keyName: name)
        case 4:
            guard let recipient = Recipient(row.bytes(Parameter.recipient)),
                case let share = row.bytes(Parameter.share), share.count == Recipient.byteCount
            else { throw VaultCryptoError(.malformedRecord, "a recipient's slot lacks a parameter") }
            return .recipient(recipient, share: share)
        default: throw VaultCryptoError(.unknownKind, "the slot is of a kind that this version does not know")
        }
    }

    private enum Parameter {
        static let wrappedKey: Int32 = 10
        static let keyName: Int32 = 11
        static let recipient: Int32 = 12
        static let share: Int32 = 13
    }

    /// The columns that each kind uses.
    private static let parameters: [(kind: Int64, column: Int32)] = [
        (2, 3), (2, 4), (2, 5), (3, Parameter.wrappedKey), (3, Parameter.keyName), (4, Parameter.recipient),
        (4, Parameter.share),
    ]

    static func insert(_ slot: KeySlot, _ tables: any TableAccess) throws(StoreError) {
        let insert = try tables.cursor(.insertKeySlot)
        let description = slot.description
        insert.bind(1, description.id)
        insert.bind(2, description.kind.code)
        insert.bind(3, description.keyID.bytes)
        for parameter in [4, 5, 6, 10, 11, 12, 13] as [Int32] { insert.bindNull(parameter) }
        switch description.kind {
        case .keyFile: break
        case .passphrase(let salt, let cost):
            insert.bind(4, salt)
            insert.bind(5, Int64(cost.operations))
            insert.bind(6, Int64(cost.memoryKiB))
        case .wrapped(let blob, let keyName):
            insert.bind(10, blob)
            if let keyName { insert.bind(11, keyName) }
        case .recipient(let recipient, let share):
            insert.bind(12, recipient.bytes)
            insert.bind(13, share)
        }
        insert.bind(7, description.label)
        insert.bind(8, description.createdAt)
        insert.bind(9, slot.wrappedVaultKey)
        try insert.run()
    }

    /// Updates the row of an existing slot that was resealed.
    static func update(_ slot: KeySlot, _ tables: any TableAccess) throws(StoreError) {
        let update = try tables.cursor(.updateKeySlot)
        update.bind(1, slot.description.id)
        update.bind(2, slot.description.keyID.bytes)
        if case .recipient(_, let share) = slot.description.kind { update.bind(3, share) } else { update.bindNull(3) }
        update.bind(4, slot.wrappedVaultKey)
        try update.run()
        guard tables.changeCount == 1 else { throw .notFound(.keySlot) }
    }

    static func delete(_ handle: Bytes16, _ tables: any TableAccess) throws(StoreError) {
        let delete = try tables.cursor(.deleteKeySlot)
        delete.bind(1, handle)
        try delete.run()
    }
}

extension Query {
    private static let slotColumns = Table.keySlot.columns(
        "handle", "kind", "keyID", "salt", "operations", "memoryKiB", "label", "createdAt", "cell", "id",
        "wrappedKey", "keyName", "recipient", "share")

    static let keySlotsFrom = select(
        slotColumns, from: .keySlot, where: [.atLeast(Table.keySlot["id"], 1)], order: [.up(Table.keySlot["id"])],
        limit: 2)

    fileprivate static let insertKeySlot = insert(
        into: .keySlot, "handle", "kind", "keyID", "salt", "operations", "memoryKiB", "label", "createdAt", "cell",
        "wrappedKey", "keyName", "recipient", "share")

    fileprivate static let updateKeySlot = update(
        .keySlot, "keyID", "share", "cell", first: 2, where: [.equal(Table.keySlot["handle"], 1)])

    fileprivate static let deleteKeySlot = delete(from: .keySlot, where: [.equal(Table.keySlot["handle"], 1)])
}
