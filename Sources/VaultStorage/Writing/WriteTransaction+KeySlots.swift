import VaultCrypto

extension WriteTransaction {
    func add(_ slot: KeySlot) throws(StoreError) {
        guard try tables.count(.keySlot) < KeySlot.maximumCount else {
            throw StoreError(
                .conflict, "the vault already has the maximum of \(KeySlot.maximumCount) key slots",
                hint: "remove one that is no longer needed first")
        }
        try KeySlotRows.insert(slot, tables)
        let tag = try sealing { () throws(VaultCryptoError) in try SealedCell.tag(of: slot.wrappedVaultKey) }
        try changeVault(
            AuditEvent(.keySlotAdded, [AuditEvent.Detail("slot", Base32.encode(slot.description.id))])
        ) { $0.manifest.add(slot.description, tag) }
    }

    /// - Parameter proven: an opened slot that remains.
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
        try delete(handle, noting: proven.handle)
    }

    func delete(_ handle: KeySlotHandle, noting proven: KeySlotHandle? = nil) throws(StoreError) {
        try KeySlotRows.delete(handle.bytes, tables)
        guard tables.changeCount == 1 || rows.current.manifest.keySlots[handle.bytes] != nil else {
            throw .notFound(.keySlot)
        }
        let now = context.clock()
        try changeVault(AuditEvent(.keySlotRemoved, [AuditEvent.Detail("slot", handle.text)])) { row in
            row.manifest.removeKeySlot(handle.bytes)
            if let proven { row.manifest.noteProof(of: proven.bytes, at: now) }
        }
    }

    /// Notes that a key opens the slot in its current form.
    func noteProof(of proven: ProvenKeySlot) throws(StoreError) {
        guard rows.current.manifest.keySlots[proven.handle.bytes] == proven.tag else {
            throw StoreError.slotsChanged
        }
        let now = context.clock()
        try changeVault(AuditEvent(.keySlotProven, [AuditEvent.Detail("slot", proven.handle.text)])) {
            $0.manifest.noteProof(of: proven.handle.bytes, at: now)
        }
    }

    /// Replaces the vault key in the slots that the plan keeps, and removes the others.
    func rekey(_ plan: RekeyPlan) throws(StoreError) {
        guard rows.current.manifest.keySlots == plan.basis else { throw StoreError.slotsChanged }
        for slot in plan.dropped { try delete(slot.handle) }
        for slot in plan.kept { try KeySlotRows.update(slot.sealedAnew, tables) }
        let details = [
            AuditEvent.Detail("kept", "\(plan.kept.count)"), AuditEvent.Detail("dropped", "\(plan.dropped.count)"),
        ]
        let (opened, now) = (plan.opened, context.clock())
        try changeVault(AuditEvent(.vaultRekeyed, details)) { row in
            row.opened = opened
            for slot in plan.kept {
                row.manifest.add(slot.sealedAnew)
                if slot.isProven { row.manifest.noteProof(of: slot.sealedAnew.description.id, at: now) }
            }
        }
    }
}

extension StoreError {
    static var lastKeySlot: StoreError {
        StoreError(
            .lastKeySlot, "this is the last key slot: without it the vault could never be opened again",
            hint: "add another slot first")
    }

    static var slotsChanged: StoreError {
        StoreError(
            .conflict, "the key slots have changed in the meantime",
            hint: "check them with `vaultctl key list`, and start again")
    }

    static var keySlotNotProven: StoreError {
        StoreError(
            .keySlotNotProven, "this key slot has opened the vault, and no proof of another key was given",
            hint: "prove another key of the vault, which remains; or open the vault with it")
    }
}
