package import VaultCrypto

extension VaultStore {
    package func addKeySlot(_ maker: any SlotMaker, label: String) async throws -> StoredKeySlot {
        let handle = KeySlotHandle.random()
        let context = context
        let (row, createdAt) = (context.rows.current, context.clock())
        // Stretching a passphrase takes most of a second, and a program may be slow.
        let slot = try await onTheOpeningLane(StoreError.init(adding:)) { () throws(VaultCryptoError) in
            try KeySlot.wrap(
                row.vaultKey, for: maker, id: handle.bytes, label: label, createdAt: createdAt.milliseconds,
                vault: context.vaultID)
        }
        try await write { transaction in
            // Another process may have replaced the vault key while this slot was made.
            guard transaction.rows.current.vaultKey.isSame(as: row.vaultKey) else { throw StoreError.slotsChanged }
            try transaction.add(slot)
        }
        return StoredKeySlot(handle: handle, description: slot.description)
    }

    /// Removes a slot, if another one remains that is known to open the vault: the one that `unlocker` opens, or else
    /// the one with which this process opened the vault.
    package func removeKeySlot(
        _ handle: KeySlotHandle, provenBy unlocker: (any SlotUnlocker)? = nil
    ) async throws {
        let proven = if let unlocker { try await prove(unlocker) { $0 != handle } } else { context.openedBy }
        try await write { try $0.removeKeySlot(handle, provenBy: proven) }
    }

    /// Opens the slot with this key, as opening the vault would, and notes that it opened.
    ///
    /// - Throws: `wrongKey` if it does not open. In a read-only vault the slot is opened and nothing is noted.
    package func testKeySlot(_ handle: KeySlotHandle, with unlocker: any SlotUnlocker) async throws {
        guard try await keySlots().contains(where: { $0.handle == handle }) else {
            throw StoreError.notFound(.keySlot)
        }
        let proven = try await prove(unlocker) { $0 == handle }
        guard readOnlyRefusal == nil else { return }
        try await write { try $0.noteProof(of: proven) }
    }

    /// The slots that this key opens.
    package func keySlots(openedBy unlocker: any SlotUnlocker) async throws -> Set<KeySlotHandle> {
        let (row, slots) = try await knownSlots()
        let context = context
        return try await onTheOpeningLane(StoreError.init(opening:)) { () throws(VaultCryptoError) in
            var opened: Set<KeySlotHandle> = []
            let unlocker = unlocker.bound(to: context.vaultID)
            for slot in slots {
                guard let key = try unlocker.slotKeyIfAny(for: slot.description),
                    slot.opens(with: key, to: row, context)
                else { continue }
                opened.insert(KeySlotHandle(slot.description.id))
            }
            return opened
        }
    }

    /// The plan for ``rekey(_:)``. It keeps the slots of recipients, the slot that opened the vault, and every other
    /// slot that one of the keys opens.
    package func planRekey(provenBy unlockers: [any SlotUnlocker]) async throws -> RekeyPlan {
        let (row, slots) = try await knownSlots()
        let context = context
        return try await onTheOpeningLane(StoreError.init(opening:)) { () throws(VaultCryptoError) in
            try RekeyPlan(slots, of: row, context, provenBy: unlockers)
        }
    }

    /// Gives the vault a new vault key. Other processes that have it open continue, unless their slot was dropped.
    package func rekey(_ plan: RekeyPlan) async throws {
        try await write { try $0.rekey(plan) }
    }

    /// Runs before the transaction, because stretching a passphrase takes time.
    private func prove(
        _ unlocker: any SlotUnlocker, _ isMeant: @escaping @Sendable (KeySlotHandle) -> Bool
    ) async throws -> ProvenKeySlot {
        let (row, slots) = try await knownSlots()
        let vault = context.vaultID
        return try await onTheOpeningLane(StoreError.init(opening:)) { () throws(VaultCryptoError) in
            let meant = slots.filter { isMeant(KeySlotHandle($0.description.id)) }
            let opened = try KeySlot.unlock(meant, with: unlocker, vault: vault)
            guard opened.vaultKey.isSame(as: row.vaultKey) else {
                throw VaultCryptoError(.wrongKey, "the slot leads to another vault key")
            }
            return try ProvenKeySlot(opened.slot)
        }
    }

    /// The slots that the vault itself made, and the vault's row, of one moment.
    private func knownSlots() async throws -> (VaultRow, [KeySlot]) {
        try await read { reader throws(StoreError) in
            try reader.withSnapshot { () throws(StoreError) in
                let row = try reader.opener.vaultRow()
                return (row, try KeySlotRows.all(reader.tables).slots.filter { row.knows($0) })
            }
        }
    }

    private func onTheOpeningLane<R: Sendable>(
        _ translate: @escaping @Sendable (VaultCryptoError) -> StoreError,
        _ body: @escaping @Sendable () throws(VaultCryptoError) -> R
    ) async throws -> R {
        try await BlockingLane.opening.run {
            do throws(VaultCryptoError) { return try body() } catch { throw translate(error) }
        }
    }
}

extension StoreError {
    init(adding error: VaultCryptoError) {
        switch error.code {
        case .labelTooLong, .passphraseParametersOutOfBounds, .recipientMalformed:
            self.init(.invalidValue, error.message, hint: error.hint)
        default: self.init(opening: error)
        }
    }
}
