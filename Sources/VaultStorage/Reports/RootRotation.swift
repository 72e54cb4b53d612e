package import VaultCrypto

/// The cells that a root key seals, by the tables that they are in.
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

/// The root keys of a vault, and what is still sealed under those that are to go.
package struct RootRotationStatus: Equatable, Sendable {
    package let primary: KeyID
    /// When the primary root was made; nil for a vault's first, and for one to which a rotation went back.
    package let primaryMadeAt: Timestamp?
    /// Root keys that only open, the oldest first. Empty unless a rotation is under way.
    package let retiring: [KeyID]
    /// What is sealed under these. Replies in the spool are apart.
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
    /// Cells are sealed anew under the new root.
    case sealing
    /// Every cell of a user is opened once more, under the new root.
    case verifying
    /// Other processes have renewals under way that they began under the old root.
    case waiting
}

package struct RootRotationProgress: Equatable, Sendable {
    package let phase: RootRotationPhase
    package let done: Int
    package let total: Int
}

/// Why a root key could not be given up yet.
package enum RootRotationObstacle: Equatable, Sendable {
    /// Rows that do not open, and so cannot be sealed anew.
    case unreadable(RootSealedCells)
    /// Replies of these processes lie in the spool.
    case spooled(owners: [Int64])
    /// These processes have renewals under way that they began before.
    case busy(owners: [Int64])
}

/// What became of a rotation.
package struct RootRotationReport: Equatable, Sendable {
    package let primary: KeyID
    /// Whether it went on with one that had been begun before.
    package let isResumed: Bool
    /// What was sealed anew this time.
    package internal(set) var resealed = RootSealedCells()
    package internal(set) var retired: [KeyID] = []
    /// Roots that had to be kept. Empty if the rotation is complete.
    package internal(set) var kept: [KeyID] = []
    package internal(set) var obstacles: [RootRotationObstacle] = []
}
