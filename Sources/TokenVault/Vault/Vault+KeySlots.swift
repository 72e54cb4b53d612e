import VaultCrypto
import VaultStorage

extension Vault {
    /// The ways to open this vault, oldest first.
    public func keySlots() async throws -> [KeySlot] {
        try await VaultError.translating { try await store.keySlots().map { KeySlot($0) } }
    }

    /// Adds a way to open the vault. Nothing that is sealed changes.
    @discardableResult
    public func addKeySlot(_ source: KeySource, label: String) async throws -> KeySlot {
        try await VaultError.translating { KeySlot(try await store.addKeySlot(try source.maker(), label: label)) }
    }

    /// Removes a way to open the vault. An old copy of the file can still be opened with its key.
    ///
    /// One way that works always remains: the slot by which this vault was opened, or the one that you prove.
    /// - Parameters:
    ///   - id: ``KeySlot/id`` of the slot.
    ///   - source: Another key of the vault, needed to remove the slot by which this vault was opened.
    /// - Throws: ``VaultError/Code/inUse`` if no other key is known to open the vault.
    public func removeKeySlot(_ id: KeySlotID, provenBy source: KeySource? = nil) async throws {
        try await VaultError.translating {
            try await store.removeKeySlot(id.handle, provenBy: try source?.unlocker())
        }
    }

    /// The slot by which this vault was opened.
    public var openingKeySlot: KeySlotID { KeySlotID(store.openingKeySlot) }
}

extension KeySlot {
    init(_ stored: StoredKeySlot) {
        let kind: Kind =
            switch stored.description.kind {
            case .keyFile: .keyFile
            case .passphrase: .passphrase
            }
        self.init(
            id: KeySlotID(stored.handle), kind: kind, label: stored.description.label,
            createdAt: Timestamp(milliseconds: stored.description.createdAt).date)
    }
}
