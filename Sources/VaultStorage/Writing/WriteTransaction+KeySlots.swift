import VaultCrypto

extension WriteTransaction {
    func add(_ slot: KeySlot) throws(StoreError) {
        guard try tables.count(.keySlot) < KeySlot.maximumCount else {
            throw StoreError(
                .conflict, "the vault has \(KeySlot.maximumCount) key slots, and none has more",
                hint: "remove one that is no longer needed first")
        }
        try KeySlotRows.insert(slot, tables)
        let tag = try sealing { () throws(VaultCryptoError) in try SealedCell.tag(of: slot.wrappedVaultKey) }
        try changeVault(
            AuditEvent(.keySlotAdded, [AuditEvent.Detail("slot", Base32.encode(slot.description.id))])
        ) { $0.manifest.keySlots[slot.description.id] = tag }
    }

    /// - Parameter proven: a slot that was opened, and remains.
    func removeKeySlot(_ handle: KeySlotHandle, provenBy proven: ProvenKeySlot) throws(StoreError) {
        let slots = try KeySlotRows.all(tables).slots
        let isThere = slots.contains { slot in
            slot.description.id == proven.handle.bytes && (try? ProvenKeySlot(slot)) == proven
                && rows.current.knows(slot)
        }
        guard isThere, proven.handle != handle else {
            let others = rows.current.manifest.keySlots.handles.filter { $0 != handle.bytes }
            throw others.isEmpty ? .lastKeySlot : .keySlotNotProven
        }
        let delete = try tables.cursor(.deleteKeySlot)
        delete.bind(1, handle.bytes)
        try delete.run()
        guard tables.changeCount == 1 || rows.current.manifest.keySlots[handle.bytes] != nil else {
            throw .notFound(.keySlot)
        }
        try changeVault(
            AuditEvent(.keySlotRemoved, [AuditEvent.Detail("slot", handle.text)])
        ) { $0.manifest.keySlots[handle.bytes] = nil }
    }
}

extension StoreError {
    static var lastKeySlot: StoreError {
        StoreError(
            .lastKeySlot, "this is the last key slot: without it the vault could never be opened again",
            hint: "add another slot first")
    }

    static var keySlotNotProven: StoreError {
        StoreError(
            .keySlotNotProven, "this key slot has opened the vault, and no other key has been proven",
            hint: "prove another key of the vault, which remains; or open the vault with it")
    }
}

extension Query {
    fileprivate static let deleteKeySlot = delete(from: .keySlot, where: [.equal(Table.keySlot["handle"], 1)])
}
