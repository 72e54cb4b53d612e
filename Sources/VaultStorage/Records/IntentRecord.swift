/// A durable note that a refresh request may be under way. It is written before the request and names its owner.
package struct IntentRecord: Hashable, Sendable {
    /// Never used twice in the life of a vault. A later write must still find it.
    package let fence: Int64
    /// The generation whose refresh token the request spends.
    package var generation: Int64
    /// The process that may send; see ``OwnerLock``. 0 is no process: a doubt that is at rest.
    package var owner: Int64
    package var startedAt: Timestamp
    /// Set once a request may have reached the server and no usable reply came.
    package var doubtSince: Timestamp?
    /// Requests sent with the refresh token of this generation, or about to be. None, and no doubt: the app is being asked.
    package var tries: Int

    /// Whether the process that may send lived when the row was read. Not a part of the row.
    package var ownerLives: Bool

    package var isInDoubt: Bool { doubtSince != nil }

    init(
        fence: Int64, generation: Int64, owner: Int64, startedAt: Timestamp, doubtSince: Timestamp? = nil,
        tries: Int = 0, ownerLives: Bool = true
    ) {
        self.fence = fence
        self.generation = generation
        self.owner = owner
        self.startedAt = startedAt
        self.doubtSince = doubtSince
        self.tries = tries
        self.ownerLives = ownerLives
    }
}
