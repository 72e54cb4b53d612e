import VaultCrypto

/// A key slot that some key has opened, and the cell that it opened.
struct ProvenKeySlot: Sendable, Equatable {
    let handle: KeySlotHandle
    let tag: CellTag

    init(_ slot: KeySlot) throws(VaultCryptoError) {
        handle = KeySlotHandle(slot.description.id)
        tag = try SealedCell.tag(of: slot.wrappedVaultKey)
    }
}

/// The key slot that gave this process the vault key.
struct OpenedSlot: Sendable {
    let vaultKey: SealingKey
    let slot: ProvenKeySlot
    /// False in the process that created the vault: it wrote the slot and did not open it.
    var isProven = true
    /// Whether the slot proves nothing about the vault's author; see ``KeySlotDescription/Kind/isForgeable``.
    var isForgeable = false
}

extension OpenedSlot {
    init(_ opened: KeySlot.Opened) throws(StoreError) {
        do throws(VaultCryptoError) {
            self.init(
                vaultKey: opened.vaultKey, slot: try ProvenKeySlot(opened.slot),
                isForgeable: opened.slot.description.kind.isForgeable)
        } catch {
            throw .quarantined("keySlot", opened.slot.description.id, error)
        }
    }
}

extension VaultRow {
    /// Whether the vault itself wrote this slot as it is now. An old version of a slot that was put back is not known.
    func knows(_ slot: KeySlot) -> Bool {
        guard hasManifest else { return true }
        guard let tag = try? SealedCell.tag(of: slot.wrappedVaultKey) else { return false }
        return manifest.keySlots[slot.description.id] == tag
    }
}
