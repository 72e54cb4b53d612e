/// Whether former states of rows remain in the vault's files.
package enum Remnants: Equatable, Sendable {
    case gone
    /// A process still reads an earlier state of the vault. The first commits after it finishes remove the remnants.
    ///
    /// - Parameter processes: their ids, as far as the system reports them.
    case held(processes: [Int32])
    /// They could not be removed now.
    case kept(StoreError)
}
