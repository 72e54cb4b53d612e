package import FoundationEssentials
import VaultCrypto
import VaultStorage

/// How many cells of a vault are sealed under some root key, by what they hold.
package struct RootSealedCells: Sendable, Hashable {
    package let users: Int
    package let providers: Int
    /// Log-ins that have been begun and not completed.
    package let authorizationRequests: Int
    /// Revocations still to be confirmed.
    package let revocations: Int

    package var total: Int { users + providers + authorizationRequests + revocations }
}

/// The root keys of a vault: one seals, and others that only open until a rotation has given them up.
package struct RootKeyStatus: Sendable, Hashable {
    /// When the root that now seals was made: with the vault, or by a rotation.
    package let madeAt: Date
    /// Whether a rotation was begun and is not complete.
    package let isRotating: Bool
    /// What is still sealed under roots that are to be given up.
    package let remaining: RootSealedCells
}

/// How far a rotation has come.
package struct RootKeyRotationProgress: Sendable, Hashable {
    package enum Phase: String, Sendable, Hashable {
        /// Users are sealed anew under the new root.
        case sealing
        /// Every user is opened once more, under the new root.
        case verifying
        /// Other processes have renewals under way that they began under the old root.
        case waiting
    }

    package let phase: Phase
    /// Users, or renewals that are waited for.
    package let done: Int
    package let total: Int
}

/// What a rotation of the root key came to.
package struct RootKeyRotationReport: Sendable, Hashable {
    /// Why an old root had to be kept: it still opens something.
    package enum Obstacle: Sendable, Hashable {
        /// So many rows cannot be opened. They are kept as they are; `vaultctl damage list` names them.
        case damagedRows(Int)
        /// Replies of processes are in the spool. A process that renews tokens takes in what dead ones have left.
        case spooledReplies
        /// Other processes still have renewals under way that they began before the rotation.
        case renewalsUnderWay
    }

    /// Whether it went on with a rotation that had been broken off.
    package let isResumed: Bool
    /// What was sealed anew by this call.
    package let resealed: RootSealedCells
    /// Empty if the old root is gone from the vault.
    package let obstacles: [Obstacle]

    package var isComplete: Bool { obstacles.isEmpty }
}

extension RootSealedCells {
    init(_ cells: VaultStorage.RootSealedCells) {
        self.init(
            users: cells.users, providers: cells.providers, authorizationRequests: cells.authorizationRequests,
            revocations: cells.outbox)
    }
}

extension RootKeyRotationProgress {
    init(_ progress: RootRotationProgress) {
        let phase: Phase =
            switch progress.phase {
            case .sealing: .sealing
            case .verifying: .verifying
            case .waiting: .waiting
            }
        self.init(phase: phase, done: progress.done, total: progress.total)
    }
}

extension RootKeyRotationReport {
    init(_ report: RootRotationReport) {
        self.init(
            isResumed: report.isResumed, resealed: RootSealedCells(report.resealed),
            obstacles: report.obstacles.map { obstacle in
                switch obstacle {
                case .unreadable(let cells): .damagedRows(cells.total)
                case .spooled: .spooledReplies
                case .busy: .renewalsUnderWay
                }
            })
    }
}
