/// This process's name among those that have the vault open, and which of the others live.
package protocol Ownership: Sendable {
    var owner: Int64 { get }
    /// Whether the process of that name lives. One of which that is not known counts as alive.
    func isAlive(_ owner: Int64) -> Bool
}
