import CSodium

/// A 32-byte key in locked, guarded memory, wiped when the last reference to it goes.
@safe package final class SealingKey: @unchecked Sendable, Redacted {
    package static let byteCount = 32

    package let id: KeyID
    let slot: KeyMemory.Slot
    private let memory: KeyMemory

    private init(id: KeyID, memory: KeyMemory) throws(VaultCryptoError) {
        self.id = id
        self.memory = memory
        slot = try memory.takeSlot()
    }

    deinit { memory.wipeAndReturn(slot) }

    /// A new random key under a new random id.
    package static func generate() throws(VaultCryptoError) -> SealingKey {
        try generate(in: .shared)
    }

    /// A new random key with the id of its owner.
    package static func generate(id: KeyID) throws(VaultCryptoError) -> SealingKey {
        try generate(in: .shared, id: id)
    }

    static func generate(in memory: KeyMemory, id: KeyID = .random()) throws(VaultCryptoError) -> SealingKey {
        let key = try SealingKey(id: id, memory: memory)
        withExtendedLifetime(key) { unsafe randombytes_buf(key.pointer, byteCount) }
        return key
    }

    /// Copies 32 bytes that the caller holds and must still wipe.
    package convenience init(id: KeyID, copying source: UnsafeRawBufferPointer) throws(VaultCryptoError) {
        guard source.count == Self.byteCount, let base = source.baseAddress else {
            throw VaultCryptoError(.malformedRecord, "a key does not have 32 bytes")
        }
        try self.init(id: id, memory: .shared)
        unsafe pointer.copyMemory(from: base, byteCount: Self.byteCount)
    }

    /// The key that wraps a vault key. Its id is derived from it, so that a wrong key is detected before it is tried
    /// and never mistaken for a damaged slot.
    package static func slotKey(
        filling fill: (UnsafeMutableRawBufferPointer) throws(VaultCryptoError) -> Void
    ) throws(VaultCryptoError) -> SealingKey {
        let draft = try SealingKey(id: KeyID(.zero), memory: .shared)
        // The draft has no other references while its memory is filled and copied.
        return try withExtendedLifetime(draft) { () throws(VaultCryptoError) in
            try unsafe fill(UnsafeMutableRawBufferPointer(start: draft.pointer, count: byteCount))
            return try unsafe SealingKey(
                id: .derived(from: draft.pointer),
                copying: UnsafeRawBufferPointer(start: draft.pointer, count: byteCount)
            )
        }
    }

    /// Whether the two have the same bytes, whatever their ids say.
    package func isSame(as other: SealingKey) -> Bool {
        withExtendedLifetime((self, other)) {
            unsafe sodium_memcmp(pointer, other.pointer, Self.byteCount) == 0
        }
    }

    /// Valid while the key lives: code that passes it on keeps the key alive with `withExtendedLifetime`.
    var pointer: UnsafeMutableRawPointer { unsafe slot.pointer }

    /// The key's 32 bytes. They must not outlive the call, or be copied to memory that is not wiped.
    package func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        defer { withExtendedLifetime(self) {} }
        return try unsafe body(UnsafeRawBufferPointer(start: pointer, count: Self.byteCount))
    }
}
