/// A stored key slot: its description, and the vault key wrapped for it.
package struct KeySlot: Sendable {
    /// The maximum number of key slots in a vault.
    package static let maximumCount = 32

    package let description: KeySlotDescription
    package let wrappedVaultKey: [UInt8]

    package init(description: KeySlotDescription, wrappedVaultKey: [UInt8]) {
        self.description = description
        self.wrappedVaultKey = wrappedVaultKey
    }

    private enum Tag {
        static let id: UInt8 = 1
        static let key: UInt8 = 2
    }

    /// Wraps a vault key for a new slot.
    package static func wrap(
        _ vaultKey: SealingKey, for maker: any SlotMaker, id: Bytes16, label: String, createdAt: Int64, vault: Bytes16
    ) throws(VaultCryptoError) -> KeySlot {
        let slot = try maker.bound(to: vault).makeSlot(id: id, label: label, createdAt: createdAt)
        return try wrap(vaultKey, with: slot.key, slot.description, vault: vault)
    }

    /// Wraps a vault key for the slot of this key.
    package static func wrap(
        _ vaultKey: SealingKey, with key: SealingKey, _ description: KeySlotDescription, vault: Bytes16
    ) throws(VaultCryptoError) -> KeySlot {
        var record = RecordWriter(capacity: 64)
        record.append(Tag.id, vaultKey.id.bytes)
        record.append(Tag.key, vaultKey)
        let cell = try SealedCell.seal(
            record, kind: .wrappedVaultKey, key: key, associatedData: description.associatedData(vault: vault))
        return KeySlot(description: description, wrappedVaultKey: cell)
    }

    /// An opened vault: its key, the slot that held it, and the key of the slot.
    package struct Opened: Sendable {
        package let vaultKey: SealingKey
        package let slot: KeySlot
        package let key: SealingKey
    }

    /// The vault key and its slot: the first slot that the unlocker can open.
    ///
    /// Slots that cost nothing to try come first, then the others in order of cost: a planted slot never makes another
    /// one more expensive than itself. A slot that is damaged or too expensive does not block the others. Its error is
    /// thrown only when none of them opens.
    package static func unlock(
        _ slots: [KeySlot], with unlocker: any SlotUnlocker, vault: Bytes16, policy: UnlockingPolicy = .init()
    ) throws(VaultCryptoError) -> Opened {
        let unlocker = unlocker.bound(to: vault).ending(at: .now + policy.programTime)
        var firstError: VaultCryptoError?
        var spent: UInt64 = 0
        let costs = slots.map { ($0, unlocker.cost(of: $0.description)) }
        let isLikely = { (slot: KeySlot) in slot.description.id == policy.likelySlot }
        let ordered =
            costs.filter { isLikely($0.0) }
            + costs.filter { !isLikely($0.0) }.sorted {
                $0.1?.work ?? 0 < $1.1?.work ?? 0
            }
        for (slot, cost) in ordered {
            do {
                if let cost { try policy.admit(cost, &spent) }
                if let key = try unlocker.slotKey(for: slot.description) {
                    return Opened(vaultKey: try slot.unwrap(with: key, vault: vault), slot: slot, key: key)
                }
            } catch {
                // An error that may go away soon is reported even if other slots refuse the key.
                if firstError == nil || error.code == .keySourceBusy { firstError = error }
            }
        }
        let isUseless = unlocker is PassphraseUnlocker && costs.allSatisfy { $0.1 == nil }
        throw firstError
            ?? VaultCryptoError(
                .wrongKey,
                "this key does not open the vault (\(slots.count) key slot\(slots.count == 1 ? "" : "s")"
                    + (isUseless ? ", and none takes a passphrase)" : ")"),
                hint: "`vaultctl key list`, run with a key that does, shows which keys there are"
            )
    }

    package func unwrap(with key: SealingKey, vault: Bytes16) throws(VaultCryptoError) -> SealingKey {
        let scratch = try CellScratch(byteCount: max(wrappedVaultKey.count, SealedCell.minimumByteCount))
        let associatedData = description.associatedData(vault: vault)
        return try unsafe wrappedVaultKey.withBytes { cell throws(VaultCryptoError) in
            let opened = try unsafe SealedCell.Opened(
                cell, kind: .wrappedVaultKey, key: key, associatedData: associatedData, scratch: scratch
            )
            defer { opened.wipe(scratch) }
            return try unsafe Self.read(RecordReader(opened.plaintext))
        }
    }

    private static func read(_ record: RecordReader) throws(VaultCryptoError) -> SealingKey {
        var record = record
        var id: KeyID?
        var key: SealingKey?
        while let field = try record.next() {
            switch field.tag {
            case Tag.id: id = KeyID(try field.bytes16())
            case Tag.key:
                guard let id else { throw VaultCryptoError(.malformedRecord, "the vault key has no id") }
                key = try unsafe SealingKey(id: id, copying: field.keyBytes())
            default: try field.ignoreIfOptional()
            }
        }
        guard let key else { throw VaultCryptoError(.malformedRecord, "the slot holds no vault key") }
        return key
    }
}

extension UnlockingPolicy {
    fileprivate func admit(_ cost: Argon2Cost, _ spent: inout UInt64) throws(VaultCryptoError) {
        guard cost.memoryKiB <= memoryKiB else {
            throw VaultCryptoError(
                .unlockingTooDear,
                "a passphrase slot asks for \(cost.memoryKiB / 1024) MiB of memory, but the limit is \(memoryKiB / 1024) MiB",
                hint: "raise the limit if the slot is yours; otherwise find out who can write to the vault")
        }
        guard cost.work <= work - min(work, spent) else {
            throw VaultCryptoError(
                .unlockingTooDear, "unlocking the vault's passphrase slots would exceed the work limit",
                hint: "use a key file, and find out who can write to the vault")
        }
        spent += cost.work
    }
}
