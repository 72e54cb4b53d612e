package import TokenVault
import VaultCrypto
package import VaultStorage

extension Vault {
    /// The ways to open this vault, oldest first.
    package func keySlots() async throws -> [KeySlot] {
        try await VaultError.translating { try await store.keySlots().map { KeySlot($0) } }
    }

    /// Adds a way to open the vault. Sealed data does not change.
    @discardableResult
    package func addKeySlot(_ source: KeySource, label: String) async throws -> KeySlot {
        let source = try await source.resolved()
        // A program wraps a new key each time, so it is not run for this check.
        if !source.runsPrograms, let slot = try await keySlots(openedBy: source).first { throw Self.hasSlot(slot) }
        let slot = try await VaultError.translating {
            KeySlot(try await store.addKeySlot(try source.maker(), label: label))
        }
        await writePinIfNeeded()
        return slot
    }

    /// Removes a way to open the vault. An old copy of the file can still be opened with its key.
    ///
    /// One working way always remains: the slot that opened this vault, or the one that you prove.
    /// - Parameters:
    ///   - id: ``KeySlot/id`` of the slot.
    ///   - source: Another key of the vault, needed to remove the slot that opened this vault.
    /// - Throws: ``VaultError/Code/inUse`` if no other key is known to open the vault.
    package func removeKeySlot(_ id: KeySlotHandle, provenBy source: KeySource? = nil) async throws {
        try await VaultError.translating {
            try await store.removeKeySlot(id, provenBy: try await source?.resolved().unlocker())
        }
    }

    /// Adds a slot for a recipient of age, `age1…`: its identity opens the vault, as
    /// ``KeySource/identity(_:)``. The identity itself need never be on this machine.
    ///
    /// - Throws: ``VaultError/Code/invalidArgument`` if this is no recipient.
    @discardableResult
    package func addKeySlot(forRecipient recipient: String, label: String) async throws -> KeySlot {
        if let slot = try await keySlots().first(where: { $0.recipient == recipient }) { throw Self.hasSlot(slot.id) }
        let slot = try await VaultError.translating {
            let maker = RecipientMaker(try Recipient(text: recipient))
            return KeySlot(try await store.addKeySlot(maker, label: label))
        }
        await writePinIfNeeded()
        return slot
    }

    /// Opens a slot with this key, as opening the vault would, and records that: ``KeySlot/provenAt``.
    ///
    /// - Throws: ``VaultError/Code/wrongKey`` if it does not open the slot.
    package func testKeySlot(_ id: KeySlotHandle, with source: KeySource) async throws {
        try await VaultError.translating {
            try await store.testKeySlot(id, with: try await source.resolved().unlocker())
        }
    }

    /// Which slots this key opens. Records nothing.
    package func keySlots(openedBy source: KeySource) async throws -> Set<KeySlotHandle> {
        try await VaultError.translating {
            try await store.keySlots(openedBy: try await source.resolved().unlocker())
        }
    }

    /// Plans what ``rekey(_:)`` will do with each key slot.
    ///
    /// - Parameter sources: Keys of the vault in addition to the one that opened it. Each must open a slot.
    package func planRekey(provenBy sources: [KeySource] = []) async throws -> VaultRekeying {
        try await VaultError.translating {
            var unlockers: [any SlotUnlocker] = []
            for source in sources { unlockers.append(try await source.resolved().unlocker()) }
            return VaultRekeying(plan: try await store.planRekey(provenBy: unlockers))
        }
    }

    /// Replaces the vault key, and seals the keyring again. Data that is sealed under the root key does not change.
    ///
    /// A former vault key opens nothing in the vault's future states, and cannot forge its manifest. Former copies of
    /// the file open as before, and anyone who has opened one has the root key. Other processes continue, unless the
    /// slot with which they opened the vault is dropped.
    ///
    /// - Throws: ``VaultError/Code/conflict`` if the slots have changed since the plan was made.
    package func rekey(_ rekeying: VaultRekeying) async throws {
        try await VaultError.translating {
            try await store.rekey(rekeying.plan)
            // The old wrapped keys should not stay in the WAL.
            _ = await store.removeRemnants()
        }
    }

    /// Two slots of one key would be lost together, and would look like two keys.
    private static func hasSlot(_ id: KeySlotHandle) -> VaultError {
        VaultError(
            .invalidArgument, "this key opens the vault already, by the key slot \(id)",
            hint: "add another key; to change the label, remove the slot and add the key again")
    }

    /// The slot that opened this vault.
    package var openingKeySlot: KeySlotHandle { store.openingKeySlot }
}

extension KeySlot {
    init(_ stored: StoredKeySlot) {
        let description = stored.description
        var (recipient, keyName, isCheap): (String?, String?, Bool) = (nil, nil, false)
        let kind: Kind
        switch description.kind {
        case .keyFile: kind = .keyFile
        case .passphrase(_, let cost):
            kind = .passphrase
            isCheap = cost.work < Argon2Cost.standard.work
        case .wrapped(_, let name):
            kind = .wrapped
            keyName = name
        case .recipient(let key, _):
            kind = .recipient
            recipient = key.text
        }
        self.init(
            id: stored.handle, kind: kind, label: description.label,
            createdAt: Timestamp(milliseconds: description.createdAt).date, provenAt: stored.provenAt?.date,
            recipient: recipient, keyName: keyName, isCheaperThanToday: isCheap)
    }
}
