/// A step of a move that has just become durable. If the process ends, the next run continues after the last of these.
package enum MoveStep: Sendable, Hashable {
    /// The source no longer takes changes, so its logins are no longer renewed.
    case sourceHeld
    /// The target is being filled.
    case targetReady
    case providers
    case revocations
    case logIns
    /// A batch of users with their logins, and its number.
    case users(Int)
    /// The target is open to its services: they renew now.
    case targetComplete
    case sourceComplete
}
