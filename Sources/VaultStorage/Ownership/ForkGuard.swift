import Glibc
import Synchronization

/// Knows whether this process was forked, without an exec, off one that had a vault open.
///
/// Such a process must touch nothing of it: SQLite's connections and their locks belong to the parent, and the parent's
/// owner lock would outlive the parent in the child's copies of its descriptors. So the child closes these first thing.
@safe enum ForkGuard {
    private static let capacity = 64
    private static let forked = Atomic<Bool>(false)
    private static let turn = Mutex(())
    /// Descriptors of open file descriptions that must not live on in a child; −1 where there is none.
    private static let table = Table()
    private static let isArmed: Bool = pthread_atfork(nil, nil, { ForkGuard.leaveParent() }) == 0

    /// Changed under ``turn``; read without it in a fork, where nothing changes it.
    @safe private struct Table: @unchecked Sendable {
        let slots: UnsafeMutablePointer<Int32>

        init() {
            unsafe slots = .allocate(capacity: capacity)
            unsafe slots.initialize(repeating: -1, count: capacity)
        }
    }

    /// One load from memory, for the hot read.
    static var isForked: Bool { forked.load(ordering: .relaxed) }

    static func add(_ descriptor: Int32) {
        guard isArmed else { return }
        turn.withLock { _ in
            for index in 0..<capacity where unsafe table.slots[index] < 0 {
                unsafe table.slots[index] = descriptor
                return
            }
        }
    }

    static func remove(_ descriptor: Int32) {
        turn.withLock { _ in
            for index in 0..<capacity where unsafe table.slots[index] == descriptor {
                unsafe table.slots[index] = -1
            }
        }
    }

    /// Runs in the child, where no other thread lives: nothing here may take a lock or allocate.
    private static func leaveParent() {
        for index in 0..<capacity where unsafe table.slots[index] >= 0 {
            forked.store(true, ordering: .relaxed)
            unsafe _ = close(table.slots[index])
            unsafe table.slots[index] = -1
        }
    }
}
