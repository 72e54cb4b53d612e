package import VaultCrypto

package struct StoredKeySlot: Sendable {
    package let handle: KeySlotHandle
    package let description: KeySlotDescription
    /// When a key was last seen to open it; nil if none was since it was made.
    package let provenAt: Timestamp?

    package init(handle: KeySlotHandle, description: KeySlotDescription, provenAt: Timestamp? = nil) {
        self.handle = handle
        self.description = description
        self.provenAt = provenAt
    }
}
