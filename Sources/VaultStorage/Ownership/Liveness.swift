import Synchronization

/// Whether this process may go on using what it has open of a vault. Once lost it is lost for good.
final class Liveness: Sendable {
    private let lost = Atomic<Bool>(false)

    /// Two loads from memory, for the hot read.
    var isLost: Bool { lost.load(ordering: .relaxed) || ForkGuard.isForked }

    func lose() { lost.store(true, ordering: .relaxed) }

    @inline(__always)
    func check() throws(StoreError) {
        if isLost { throw .ownershipLost }
    }
}

extension StoreError {
    static var ownershipLost: StoreError {
        if ForkGuard.isForked {
            return StoreError(
                .ownershipLost, "this process was forked off one that had the vault open, and must not use it",
                hint: "open the vault after the fork, or let the child start a program of its own (exec)")
        }
        return StoreError(
            .ownershipLost, "something in this process closed descriptors of the vault",
            hint: "restart it, and find what closes files that it did not open (closefrom, close_range)")
    }
}
