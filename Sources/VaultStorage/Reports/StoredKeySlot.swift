package import VaultCrypto

package struct StoredKeySlot: Sendable {
    package let handle: KeySlotHandle
    package let description: KeySlotDescription
    /// When a key last opened the slot; nil if none has since the slot was made.
    package let provenAt: Timestamp?

    package init(handle: KeySlotHandle, description: KeySlotDescription, provenAt: Timestamp? = nil) {
        self.handle = handle
        self.description = description
        self.provenAt = provenAt
    }
}
