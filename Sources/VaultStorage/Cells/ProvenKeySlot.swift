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

/// How this process has come to the vault key.
struct OpenedSlot: Sendable {
    let vaultKey: SealingKey
    let slot: ProvenKeySlot
    /// False in the process that made the vault: the slot was written, and not opened.
    var isProven = true
    /// Whether it says nothing about who made the vault; see ``KeySlotDescription/Kind/isForgeable``.
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
    /// Whether the vault itself has put this slot there, as it is. One of a former time, put back, is not.
    func knows(_ slot: KeySlot) -> Bool {
        guard hasManifest else { return true }
        guard let tag = try? SealedCell.tag(of: slot.wrappedVaultKey) else { return false }
        return manifest.keySlots[slot.description.id] == tag
    }
}
