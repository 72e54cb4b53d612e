/// Whether former states of rows still stand in the vault's files.
package enum Remnants: Equatable, Sendable {
    case gone
    /// A process reads the vault as it was. They go with the first commits after that.
    ///
    /// - Parameter processes: their ids, as far as the system shows them.
    case held(processes: [Int32])
    /// They could not be removed now.
    case kept(StoreError)
}
