import CSodium
import Synchronization

/// Slabs of guarded memory cut into slots.
///
/// A guarded allocation per key would not scale: a process gets about 16 000 of them, and an unprivileged user about 2
/// 000 locked ones, after which the rest are silently not locked.
final class KeyMemory: Sendable {
    /// All keys of the process.
    static let shared = KeyMemory()
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
        /// Whether the kernel has refused to lock a slab that had to be.
        var isExhausted = false
    }

    let slotByteCount: Int
    private let mustLock: Bool
    private let lock: GuardedRegion.Lock
    private let state = Mutex(State())

    /// - Parameters:
    ///   - slotByteCount: a divisor of a slab's size.
    ///   - mustLock: whether to have no slots rather than some that the kernel may write to swap.
    init(
        slotByteCount: Int = 64, mustLock: Bool = false,
        lock: @escaping GuardedRegion.Lock = GuardedRegion.lockWithSodium
    ) {
        self.slotByteCount = slotByteCount
        self.mustLock = mustLock
        self.lock = lock
    }

    /// A slot that holds zeros.
    func takeSlot() throws(VaultCryptoError) -> Slot {
        try state.withLock { state throws(VaultCryptoError) in
            if let slot = state.free.popLast() { return slot }
            guard !state.isExhausted else { throw Self.exhausted }
            let slab = try Slab(lock: lock)
            guard slab.region.isLocked || !mustLock else {
                state.isExhausted = true
                throw Self.exhausted
            }
            state.slabs.append(slab)
            for offset in stride(from: Self.slabByteCount - slotByteCount, to: 0, by: -slotByteCount) {
                unsafe state.free.append(Slot(pointer: slab.region.base + offset))
            }
            return unsafe Slot(pointer: slab.region.base)
        }
    }

    func wipeAndReturn(_ slot: Slot) {
        unsafe sodium_memzero(slot.pointer, slotByteCount)
        state.withLock { $0.free.append(slot) }
    }

    private static var exhausted: VaultCryptoError {
        VaultCryptoError(
            .outOfGuardedMemory, "no more memory can be kept out of swap", hint: "raise the limit on locked memory")
    }

    var lockedState: LockedMemoryState {
        state.withLock { state in
            let locked = state.slabs.count { $0.region.isLocked }
            if locked == state.slabs.count { return .full }
            return locked == 0 ? .none : .partial
        }
    }
}
