/// Something that may want to know for which vault it works.
package protocol BoundToVault: Sendable {
    func bound(to vault: Bytes16) -> Self
}

extension BoundToVault {
    package func bound(to vault: Bytes16) -> Self { self }
}

/// Something that can produce the key of a slot: a key file, a passphrase.
package protocol SlotUnlocker: BoundToVault {
    /// The slot's key, or `nil` if the slot is not for this unlocker or its key is another one.
    func slotKey(for slot: KeySlotDescription) throws(VaultCryptoError) -> SealingKey?
    /// What it costs to ask for the key of this slot; nil: next to nothing.
    func cost(of slot: KeySlotDescription) -> Argon2Cost?
    /// The same, and whatever programs it runs end by then.
    func ending(at end: ContinuousClock.Instant) -> any SlotUnlocker
    /// What opens the slot of this key again after the vault key was replaced. It asks no one, and holds no more than
    /// what opened the slot.
    func follower(of key: SealingKey) -> any SlotUnlocker
}

extension SlotUnlocker {
    package func cost(of slot: KeySlotDescription) -> Argon2Cost? { nil }

    package func ending(at end: ContinuousClock.Instant) -> any SlotUnlocker { self }

    package func follower(of key: SealingKey) -> any SlotUnlocker { HeldSlotKey(key) }
}

/// The key of one slot, which was made or opened before.
package struct HeldSlotKey: SlotUnlocker {
    private let key: SealingKey

    package init(_ key: SealingKey) { self.key = key }

    package func slotKey(for slot: KeySlotDescription) throws(VaultCryptoError) -> SealingKey? {
        slot.keyID == key.id ? key : nil
    }
}

/// What opening a vault may cost, whatever its key slots ask for. They are plaintext: an attacker who can write to the
/// file can plant rows that keep a process busy for hours, or exhaust its memory.
package struct UnlockingPolicy: Hashable, Sendable {
    /// Of one try.
    package var memoryKiB: UInt32
    /// Passes times KiB, of all tries together.
    package var work: UInt64
    /// Of all programs together.
    package var programTime = Duration.seconds(30)
    /// The slot that opened last: it is tried first. Only a proposal.
    package var likelySlot: Bytes16?

    /// - Parameter work: by default as many passes as 32 slots of the standard cost take: about half a minute.
    package init(
        memoryKiB: UInt32 = 1024 * 1024, work: UInt64 = UInt64(KeySlot.maximumCount) * Argon2Cost.standard.work
    ) {
        self.memoryKiB = memoryKiB
        self.work = work
    }
}

/// Something that can make a new slot.
package protocol SlotMaker: BoundToVault {
    /// A description of the new slot, and the key that will open it.
    func makeSlot(
        id: Bytes16, label: String, createdAt: Int64
    ) throws(VaultCryptoError) -> (description: KeySlotDescription, key: SealingKey)
}
