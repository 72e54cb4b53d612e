/// What a move has just made durable. Wherever its process ends, the next run goes on from the last of these.
package enum MoveStep: Sendable, Hashable {
    /// The source no longer takes changes, so its logins are no longer renewed.
    case sourceHeld
    /// The target is being filled.
    case targetReady
    case providers
    case revocations
    case logIns
    /// Some users with their logins; how many times that was.
    case users(Int)
    /// The target is open to its services: they renew now.
    case targetComplete
    case sourceComplete
}
