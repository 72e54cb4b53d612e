/// Something that can produce the key of a slot: a key file, a passphrase.
package protocol SlotUnlocker: Sendable {
    /// The slot's key, or `nil` if the slot is not for this unlocker or its key is another one.
    func slotKey(for slot: KeySlotDescription) throws(VaultCryptoError) -> SealingKey?
}

/// Something that can make a new slot.
package protocol SlotMaker: Sendable {
    /// A description of the new slot, and the key that will open it.
    func makeSlot(
        id: Bytes16, label: String, createdAt: Int64
    ) throws(VaultCryptoError) -> (description: KeySlotDescription, key: SealingKey)
}
