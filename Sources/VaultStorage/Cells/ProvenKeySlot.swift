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

extension VaultRow {
    /// Whether the vault itself has put this slot there, as it is. One of a former time, put back, is not.
    func knows(_ slot: KeySlot) -> Bool {
        guard hasManifest else { return true }
        guard let tag = try? SealedCell.tag(of: slot.wrappedVaultKey) else { return false }
        return manifest.keySlots[slot.description.id] == tag
    }
}
