/// This process's number among the processes that have the vault open, and the check whether others are alive.
package protocol Ownership: Sendable {
    var owner: Int64 { get }
    /// Whether the process with that number is alive. If that is unknown, it counts as alive.
    func isAlive(_ owner: Int64) -> Bool
}
