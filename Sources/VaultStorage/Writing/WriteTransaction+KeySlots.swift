import VaultCrypto

extension WriteTransaction {
    func add(_ slot: KeySlot) throws(StoreError) {
        guard try connection.integer("SELECT count(*) FROM keySlot") < KeySlot.maximumCount else {
            throw StoreError(
                .conflict, "the vault has \(KeySlot.maximumCount) key slots, and none has more",
                hint: "remove one that is no longer needed first")
        }
        try KeySlotRows.insert(slot, connection)
        try audit(
            AuditEvent(.keySlotAdded, [AuditEvent.Detail("slot", Base32.encode(slot.description.id))]),
            about: AuditSubject())
    }

    func removeKeySlot(_ handle: KeySlotHandle) throws(StoreError) {
        let slots = try KeySlotRows.all(connection).slots
        guard slots.contains(where: { $0.description.id != handle.bytes }) else {
            throw StoreError(
                .lastKeySlot, "this is the last key slot: without it nobody could open the vault again",
                hint: "add another slot first")
        }
        let delete = try connection.statement("DELETE FROM keySlot WHERE handle = ?1")
        delete.bind(1, handle.bytes)
        try delete.run()
        guard connection.changeCount == 1 else { throw .notFound(.keySlot) }
        try audit(
            AuditEvent(.keySlotRemoved, [AuditEvent.Detail("slot", handle.text)]), about: AuditSubject())
    }
}
