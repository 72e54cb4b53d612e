package import VaultCrypto

package struct StoredKeySlot: Sendable {
    package let handle: KeySlotHandle
    package let description: KeySlotDescription
}
