/// Something that may need to know which vault it works for.
package protocol BoundToVault: Sendable {
    func bound(to vault: Bytes16) -> Self
}

extension BoundToVault {
    package func bound(to vault: Bytes16) -> Self { self }
}

/// Something that can produce the key of a slot: a key file, a passphrase.
package protocol SlotUnlocker: BoundToVault {
    /// The slot's key, or `nil` if the slot is not for this unlocker or has another key.
    func slotKey(for slot: KeySlotDescription) throws(VaultCryptoError) -> SealingKey?
    /// The cost of asking for this slot's key; nil if it is negligible.
    func cost(of slot: KeySlotDescription) -> Argon2Cost?
    /// The same unlocker, with a deadline for the programs that it runs.
    func ending(at end: ContinuousClock.Instant) -> any SlotUnlocker
    /// An unlocker that opens the slot of this key again after the vault key was replaced. It asks no user and runs no
    /// program, and holds only what opened the slot.
    func follower(of key: SealingKey) -> any SlotUnlocker
}

extension SlotUnlocker {
    package func cost(of slot: KeySlotDescription) -> Argon2Cost? { nil }

    package func ending(at end: ContinuousClock.Instant) -> any SlotUnlocker { self }

    package func follower(of key: SealingKey) -> any SlotUnlocker { HeldSlotKey(key) }
}

/// The key of one slot that was made or opened before.
package struct HeldSlotKey: SlotUnlocker {
    private let key: SealingKey

    package init(_ key: SealingKey) { self.key = key }

    package func slotKey(for slot: KeySlotDescription) throws(VaultCryptoError) -> SealingKey? {
        slot.keyID == key.id ? key : nil
    }
}

/// The maximum cost of opening a vault, whatever its key slots demand. Slots are plaintext: an attacker who can write
/// to the file can plant rows that keep a process busy for hours, or exhaust its memory.
package struct UnlockingPolicy: Hashable, Sendable {
    /// The memory of one attempt.
    package var memoryKiB: UInt32
    /// Passes times KiB, for all attempts together.
    package var work: UInt64
    /// The time for all programs together.
    package var programTime = Duration.seconds(30)
    /// The slot that opened last, which is tried first. It is only a suggestion.
    package var likelySlot: Bytes16?

    /// - Parameter work: The default allows as many passes as 32 slots of the standard cost take: about half a minute.
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
