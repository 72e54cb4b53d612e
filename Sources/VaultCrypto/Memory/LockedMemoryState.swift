/// Whether the memory that holds keys is kept out of swap.
package enum LockedMemoryState: String, Sendable, CaseIterable {
    case full
    case partial
    case none

    /// The state of all key memory of this process; `full` while there is none yet.
    package static var current: LockedMemoryState { KeyMemory.shared.lockedState }
}
