import VaultCrypto

/// The rows of the key slots, which are read before any key is at hand.
enum KeySlotRows {
    /// The slots that can be read, and what is wrong with the first of the others: a slot that is damaged must not stand
    /// in the way of the rest. Of each kind no more are read than a vault has.
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

    static func slot(_ row: any RowCursor) throws(StoreError) -> KeySlot {
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
        switch row.integer(1) {
        case 1:
            guard row.isNull(3), row.isNull(4), row.isNull(5) else {
                throw VaultCryptoError(.malformedRecord, "a key file's slot has parameters of a passphrase")
            }
            return .keyFile
        case 2:
            guard let salt = row.bytes16(3), let operations = UInt32(exactly: row.integer(4)),
                let memory = UInt32(exactly: row.integer(5))
            else { throw VaultCryptoError(.malformedRecord, "a passphrase slot lacks a parameter") }
            return .passphrase(salt: salt, cost: try Argon2Cost(operations: operations, memoryKiB: memory))
        default: throw VaultCryptoError(.unknownKind, "the slot is of a kind that this version does not know")
        }
    }

    static func insert(_ slot: KeySlot, _ tables: any TableAccess) throws(StoreError) {
        let insert = try tables.cursor(.insertKeySlot)
        let description = slot.description
        insert.bind(1, description.id)
        insert.bind(2, description.kind.code)
        insert.bind(3, description.keyID.bytes)
        switch description.kind {
        case .keyFile:
            for parameter: Int32 in 4...6 { insert.bindNull(parameter) }
        case .passphrase(let salt, let cost):
            insert.bind(4, salt)
            insert.bind(5, Int64(cost.operations))
            insert.bind(6, Int64(cost.memoryKiB))
        }
        insert.bind(7, description.label)
        insert.bind(8, description.createdAt)
        insert.bind(9, slot.wrappedVaultKey)
        try insert.run()
    }
}

extension Query {
    private static let slotColumns = Table.keySlot.columns(
        "handle", "kind", "keyID", "salt", "operations", "memoryKiB", "label", "createdAt", "cell", "id")

    static let keySlotsFrom = select(
        slotColumns, from: .keySlot, where: [.atLeast(Table.keySlot["id"], 1)], order: [.up(Table.keySlot["id"])],
        limit: 2)

    fileprivate static let insertKeySlot = insert(
        into: .keySlot, "handle", "kind", "keyID", "salt", "operations", "memoryKiB", "label", "createdAt", "cell")
}
