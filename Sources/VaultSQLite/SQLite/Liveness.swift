import Platform
import Synchronization
import VaultStorage

/// Whether this process may keep using its open vault. Once lost, it is lost for good.
final class Liveness: Sendable {
    private static let fine: UInt8 = 0
    /// Nothing may be used from now on, but open connections may be closed.
    private static let givenUp: UInt8 = 1
    /// Open connections may not even be closed.
    private static let lost: UInt8 = 2

    private let state = Atomic<UInt8>(fine)
    private let reason = Mutex<StoreError?>(nil)

    var isLost: Bool { state.load(ordering: .relaxed) == Self.lost || ForkGuard.isForked }

    func lose() { state.store(Self.lost, ordering: .relaxed) }

    /// Ends the use of the vault, for the given reason.
    func giveUp(_ error: StoreError) {
        reason.withLock { $0 = $0 ?? error }
        _ = state.compareExchange(expected: Self.fine, desired: Self.givenUp, ordering: .releasing)
    }

    /// Two loads from memory, for the hot read.
    @inline(__always)
    func check() throws(StoreError) {
        if state.load(ordering: .relaxed) != Self.fine || ForkGuard.isForked { throw refusal }
    }

    private var refusal: StoreError {
        if isLost { return .ownershipLost }
        return reason.withLock { $0 } ?? .ownershipLost
    }
}
