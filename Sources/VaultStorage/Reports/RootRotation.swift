package import VaultCrypto

/// The number of cells that a root key seals, by table.
package struct RootSealedCells: Equatable, Sendable {
    package var users = 0
    package var providers = 0
    package var authorizationRequests = 0
    package var outbox = 0

    package init() {}

    package var total: Int { users + providers + authorizationRequests + outbox }

    mutating func add(_ count: Int = 1, of table: Table) {
        switch table {
        case .user: users += count
        case .provider: providers += count
        case .authorizationRequest: authorizationRequests += count
        case .outbox: outbox += count
        default: break
        }
    }

    package mutating func add(_ other: RootSealedCells) {
        users += other.users
        providers += other.providers
        authorizationRequests += other.authorizationRequests
        outbox += other.outbox
    }
}

/// The root keys of a vault, and the cells that are still sealed under retiring ones.
package struct RootRotationStatus: Equatable, Sendable {
    package let primary: KeyID
    /// When the primary root was made. Nil for a vault's first, and for one to which a rotation was rolled back.
    package let primaryMadeAt: Timestamp?
    /// Root keys that only open cells, the oldest first. Empty unless a rotation is under way.
    package let retiring: [KeyID]
    /// The cells that are sealed under these keys. Replies in the spool are counted separately.
    package let rest: RootSealedCells
}

/// A reply in a spool, and the root key that it is sealed under.
package struct SpooledRoot: Hashable, Sendable {
    package let owner: Int64
    package let root: KeyID

    package init(owner: Int64, root: KeyID) {
        self.owner = owner
        self.root = root
    }
}

package enum RootRotationPhase: Equatable, Sendable {
    /// Cells are being resealed under the new root.
    case sealing
    /// Every cell of a user is being opened again, under the new root.
    case verifying
    /// Other processes have open renewals that they began under the old root.
    case waiting
}

package struct RootRotationProgress: Equatable, Sendable {
    package let phase: RootRotationPhase
    package let done: Int
    package let total: Int
}

/// The reason why a root key could not be retired yet.
package enum RootRotationObstacle: Equatable, Sendable {
    /// Rows that do not open, and so cannot be resealed.
    case unreadable(RootSealedCells)
    /// The spool holds replies of these processes.
    case spooled(owners: [Int64])
    /// These processes have open renewals that they began before.
    case busy(owners: [Int64])
}

/// The result of a rotation.
package struct RootRotationReport: Equatable, Sendable {
    package let primary: KeyID
    /// Whether it continued a rotation that was begun before.
    package let isResumed: Bool
    /// The cells that were resealed this time.
    package internal(set) var resealed = RootSealedCells()
    package internal(set) var retired: [KeyID] = []
    /// Roots that had to be kept. Empty if the rotation is complete.
    package internal(set) var kept: [KeyID] = []
    package internal(set) var obstacles: [RootRotationObstacle] = []

    package var isComplete: Bool { obstacles.isEmpty }
}
