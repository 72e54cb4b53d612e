import CSodium
import Synchronization

/// All keys of the process: slabs of guarded memory cut into 64-byte slots.
///
/// A guarded allocation per key would not scale: a process gets about 16 000 of them, and an unprivileged user about 2
/// 000 locked ones, after which the rest are silently not locked.
final class KeyMemory: Sendable {
    static let shared = KeyMemory()
    static let slotByteCount = 64
    static let slabByteCount = 64 * 1024

    /// The address of one key.
    typealias Slot = GuardedAddress

    private final class Slab {
        let region: GuardedRegion

        init(lock: GuardedRegion.Lock) throws(VaultCryptoError) {
            region = try GuardedRegion(byteCount: KeyMemory.slabByteCount, lock: lock)
        }
    }

    private struct State {
        var slabs: [Slab] = []
        var free: [Slot] = []
    }

    private let lock: GuardedRegion.Lock
    private let state = Mutex(State())

    init(lock: @escaping GuardedRegion.Lock = GuardedRegion.lockWithSodium) {
        self.lock = lock
    }

    /// A slot that holds zeros.
    func takeSlot() throws(VaultCryptoError) -> Slot {
        try state.withLock { state throws(VaultCryptoError) in
            if let slot = state.free.popLast() { return slot }
            let slab = try Slab(lock: lock)
            state.slabs.append(slab)
            for offset in stride(from: Self.slabByteCount - Self.slotByteCount, to: 0, by: -Self.slotByteCount) {
                unsafe state.free.append(Slot(pointer: slab.region.base + offset))
            }
            return unsafe Slot(pointer: slab.region.base)
        }
    }

    func wipeAndReturn(_ slot: Slot) {
        unsafe sodium_memzero(slot.pointer, Self.slotByteCount)
        state.withLock { $0.free.append(slot) }
    }

    var lockedState: LockedMemoryState {
        state.withLock { state in
            let locked = state.slabs.count { $0.region.isLocked }
            if locked == state.slabs.count { return .full }
            return locked == 0 ? .none : .partial
        }
    }
}
