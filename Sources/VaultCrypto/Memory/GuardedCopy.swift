/// The plaintext of a short cell in locked, guarded memory, wiped when the last reference to it goes.
@safe package final class GuardedCopy: @unchecked Sendable, Redacted {
    package static let maximumByteCount = 256

    private static let shared = KeyMemory(slotByteCount: maximumByteCount, mustLock: true)

    private let memory: KeyMemory
    private let slot: KeyMemory.Slot
    private let count: Int

    /// Nil if the plaintext is too long, or if the kernel locks no more memory for this process.
    package convenience init?(_ plaintext: UnsafeRawBufferPointer) { unsafe self.init(plaintext, in: Self.shared) }

    init?(_ plaintext: UnsafeRawBufferPointer, in memory: KeyMemory) {
        guard plaintext.count <= memory.slotByteCount, let base = plaintext.baseAddress,
            let slot = try? memory.takeSlot()
        else { return nil }
        self.memory = memory
        self.slot = slot
        count = plaintext.count
        unsafe slot.pointer.copyMemory(from: base, byteCount: count)
    }

    deinit { memory.wipeAndReturn(slot) }

    /// Valid while the copy lives: code that passes them on keeps it alive with `withExtendedLifetime`.
    package var bytes: UnsafeRawBufferPointer { unsafe UnsafeRawBufferPointer(start: slot.pointer, count: count) }
}
