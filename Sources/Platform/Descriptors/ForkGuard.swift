import Glibc
import Synchronization

/// Detects whether this process was forked, without an exec, from one that had a vault open.
///
/// Such a process must not touch the vault: SQLite's connections and their locks belong to the parent, and the parent's
/// owner lock would outlive the parent in the child's copies of its descriptors. So the child closes these first.
@safe package enum ForkGuard {
    private static let forked = Atomic<Bool>(false)
    private static let lock = Mutex(())
    private static let table = Table()
    private static let isArmed: Bool = pthread_atfork(nil, nil, { ForkGuard.leaveParent() }) == 0

    /// Descriptors of open file descriptions that must not survive in a child; −1 marks a free place. The table grows
    /// by whole blocks, which are never moved or freed: a fork may happen at any moment.
    ///
    /// It changes only under ``lock``. A fork reads it without that lock, because nothing changes it there.
    @safe private struct Table: @unchecked Sendable {
        @safe struct Block {
            static let capacity = 64

            let slots: UnsafeMutablePointer<Int32>
            var next: UnsafeMutablePointer<Block>?
        }

        let first = unsafe Self.makeBlock()

        static func makeBlock() -> UnsafeMutablePointer<Block> {
            let slots = UnsafeMutablePointer<Int32>.allocate(capacity: Block.capacity)
            unsafe slots.initialize(repeating: -1, count: Block.capacity)
            let block = UnsafeMutablePointer<Block>.allocate(capacity: 1)
            unsafe block.initialize(to: Block(slots: slots, next: nil))
            return unsafe block
        }

        /// Passes each place to `body` until `body` is done.
        @inline(__always)
        func places(_ body: (UnsafeMutablePointer<Int32>) -> Bool) -> Bool {
            var block: UnsafeMutablePointer<Block>? = unsafe first
            while let current = unsafe block {
                for index in 0..<Block.capacity where unsafe body(current.pointee.slots + index) { return true }
                unsafe block = current.pointee.next
            }
            return false
        }

        /// Fills the new block before it becomes visible.
        func grow(with descriptor: Int32) {
            let block = unsafe Self.makeBlock()
            unsafe block.pointee.slots[0] = descriptor
            var last = unsafe first
            while let next = unsafe last.pointee.next { unsafe last = next }
            unsafe last.pointee.next = block
        }
    }

    /// One load from memory, for the hot read.
    package static var isForked: Bool { forked.load(ordering: .relaxed) }

    package static func add(_ descriptor: Int32) {
        guard isArmed else { return }
        lock.withLock { _ in
            let isAdded = unsafe table.places { place in
                guard unsafe place.pointee < 0 else { return false }
                unsafe place.pointee = descriptor
                return true
            }
            if !isAdded { table.grow(with: descriptor) }
        }
    }

    package static func remove(_ descriptor: Int32) {
        lock.withLock { _ in
            _ = unsafe table.places { place in
                if unsafe place.pointee == descriptor { unsafe place.pointee = -1 }
                return false
            }
        }
    }

    /// Runs in the child, where no other thread exists: nothing here may take a lock or allocate.
    private static func leaveParent() {
        _ = unsafe table.places { place in
            guard unsafe place.pointee >= 0 else { return false }
            forked.store(true, ordering: .relaxed)
            unsafe _ = close(place.pointee)
            unsafe place.pointee = -1
            return false
        }
    }
}
