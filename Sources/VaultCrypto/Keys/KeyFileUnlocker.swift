/// A key file, read again for each unlock.
package struct KeyFileUnlocker: SlotUnlocker, SlotMaker {
    private let path: String

    package init(path: String) { self.path = path }

    package func slotKey(for slot: KeySlotDescription) throws(VaultCryptoError) -> SealingKey? {
        let key = try KeyFile.read(at: path)
        guard case .keyFile = slot.kind, key.id == slot.keyID else { return nil }
        return key
    }

    package func makeSlot(
        id: Bytes16, label: String, createdAt: Int64
    ) throws(VaultCryptoError) -> (description: KeySlotDescription, key: SealingKey) {
        let key = try KeyFile.read(at: path)
        let description = try KeySlotDescription(
            id: id, keyID: key.id, kind: .keyFile, label: label, createdAt: createdAt
        )
        return (description, key)
    }
}
