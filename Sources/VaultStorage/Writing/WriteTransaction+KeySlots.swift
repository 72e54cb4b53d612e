import VaultCrypto

extension WriteTransaction {
    func add(_ slot: KeySlot) throws(StoreError) {
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
