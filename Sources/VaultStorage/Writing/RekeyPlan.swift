import VaultCrypto

/// A plan for each slot under a new vault key. It is made before the transaction, because keys may have to be
/// requested, and becomes invalid when the slots change.
package struct RekeyPlan: Sendable {
    package struct Kept: Sendable {
        package let slot: StoredKeySlot
        /// Whether the slot's own key was available. A recipient's key is not needed.
        package let isProven: Bool
        /// The slot, resealed with the new vault key.
        let sealedAnew: KeySlot
    }

    package let kept: [Kept]
    package let dropped: [StoredKeySlot]
    /// The slot that gives this process the new key.
    let opened: OpenedSlot
    /// The slots before the change.
    let basis: VaultManifest.Entries
}

extension RekeyPlan {
    /// - Parameters:
    ///   - slots: All slots that the vault knows.
    ///   - unlockers: The available keys, in addition to the one that opened the vault.
    init(
        _ slots: [KeySlot], of row: VaultRow, _ context: VaultContext, provenBy unlockers: [any SlotUnlocker]
    ) throws(VaultCryptoError) {
        let vaultKey = try SealingKey.generate()
        var kept: [Kept] = []
        var dropped: [StoredKeySlot] = []
        var keys = KeysAtHand(unlockers, vault: context.vaultID)
        for slot in slots {
            let stored = StoredKeySlot(slot.description, row.manifest)
            let key = try keys.key(of: slot, row, context)
            var sealed: KeySlot?
            // Not the recipient in the row: then everyone who can write the row could get the new key.
            if let recipient = row.manifest.recipients[slot.description.id] {
                sealed = try KeySlot.wrap(
                    vaultKey, for: RecipientMaker(recipient), id: slot.description.id,
                    label: slot.description.label, createdAt: slot.description.createdAt, vault: context.vaultID)
            } else if let key {
                sealed = try KeySlot.wrap(vaultKey, with: key, slot.description, vault: context.vaultID)
            }
            if let sealed {
                kept.append(Kept(slot: stored, isProven: key != nil, sealedAnew: sealed))
            } else {
                dropped.append(stored)
            }
        }
        if let failure = keys.failureOfUnused { throw failure }
        let own = row.opened.slot.handle
        guard let mine = kept.first(where: { $0.slot.handle == own })?.sealedAnew else {
            throw VaultCryptoError(.wrongKey, "the key slot by which the vault was opened is gone")
        }
        self.init(
            kept: kept, dropped: dropped,
            opened: OpenedSlot(vaultKey: vaultKey, slot: try ProvenKeySlot(mine), isProven: row.opened.isProven),
            basis: row.manifest.keySlots)
    }
}

/// The keys in addition to the one that opened the vault, and which of them have opened a slot.
private struct KeysAtHand {
    private let unlockers: [any SlotUnlocker]
    private var used: Set<Int> = []
    /// The error with which a program refused a wrapped key. The key may belong to another program, so the error counts
    /// only if the program opens no slot at all.
    private var refusals: [Int: VaultCryptoError] = [:]

    init(_ unlockers: [any SlotUnlocker], vault: Bytes16) {
        self.unlockers = unlockers.map { $0.bound(to: vault) }
    }

    /// The slot's key, if an available one opens it to the vault's own key.
    mutating func key(
        of slot: KeySlot, _ row: VaultRow, _ context: VaultContext
    ) throws(VaultCryptoError) -> SealingKey? {
        var found: SealingKey?
        if let key = try context.heldKey(of: slot.description), slot.opens(with: key, to: row, context) { found = key }
        for (index, unlocker) in unlockers.enumerated() {
            // A passphrase takes most of a second, so slots that are known to open are not tried again.
            if found != nil, unlocker.cost(of: slot.description) != nil { continue }
            guard let key = try slotKey(of: slot.description, index), slot.opens(with: key, to: row, context) else {
                continue
            }
            used.insert(index)
            found = found ?? key
        }
        return found
    }

    private mutating func slotKey(
        of slot: KeySlotDescription, _ index: Int
    ) throws(VaultCryptoError) -> SealingKey? {
        var refusal: VaultCryptoError?
        let key = try unlockers[index].slotKeyIfAny(for: slot) { refusal = $0 }
        if refusals[index] == nil { refusals[index] = refusal }
        return key
    }

    /// The error of a key that opened no slot; nil if each has opened one.
    var failureOfUnused: VaultCryptoError? {
        guard let index = unlockers.indices.first(where: { !used.contains($0) }) else { return nil }
        return refusals[index]
            ?? VaultCryptoError(
                .wrongKey, "one of the keys that were given opens none of the vault's key slots",
                hint: "`vaultctl key list --test` shows which slots a key opens")
    }
}

extension SlotUnlocker {
    /// Also returns nil if a program refuses the wrapped key, which may belong to another program.
    func slotKeyIfAny(
        for slot: KeySlotDescription, onRefusal: (VaultCryptoError) -> Void = { _ in }
    ) throws(VaultCryptoError) -> SealingKey? {
        do throws(VaultCryptoError) {
            return try slotKey(for: slot)
        } catch {
            guard error.code == .keySourceFailed, case .wrapped = slot.kind else { throw error }
            onRefusal(error)
            return nil
        }
    }
}

extension KeySlot {
    /// Whether the key opens the slot, to the vault key that is in use.
    func opens(with key: SealingKey, to row: VaultRow, _ context: VaultContext) -> Bool {
        (try? unwrap(with: key, vault: context.vaultID))?.isSame(as: row.vaultKey) ?? false
    }
}
