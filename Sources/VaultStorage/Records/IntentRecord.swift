/// A durable note that a refresh request may be under way. It is written before the request and names its owner.
package struct IntentRecord: Hashable, Sendable {
    /// A number that is never reused in the life of a vault. A later write must still find it.
    package let fence: Int64
    /// The generation whose refresh token the request spends.
    package var generation: Int64
    /// The process that may send; see ``OwnerLock``. 0 means no process: the doubt is at rest.
    package var owner: Int64
    package var startedAt: Timestamp
    /// Set once a request may have reached the server and no usable reply came.
    package var doubtSince: Timestamp?
    /// The number of requests sent, or about to be sent, with the refresh token of this generation. If it is 0 without
    /// a doubt, the app is renewing the login.
    package var tries: Int

    /// Whether the process that may send was alive when the row was read. Not a part of the row.
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
