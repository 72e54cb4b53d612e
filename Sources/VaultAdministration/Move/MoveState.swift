package import FoundationEssentials
import TokenVault
import VaultCrypto
import VaultStorage

/// A vault's part in a move.
package struct MoveState: Sendable, Hashable {
    /// The progress of the move, as far as this vault knows.
    package enum Stage: String, Sendable, Hashable, CaseIterable {
        /// The source: it takes no changes, and not everything is known to be in the target.
        case leaving
        /// The source: everything is in the target. It never takes changes again.
        case left
        /// The target: a part may still be missing, and it takes no changes but those of the move.
        case arriving
        /// The target: everything has arrived. It is used like any other vault.
        case arrived
        /// The target of a move that was given up. It never takes changes again.
        case abandoned
    }

    package let stage: Stage
    /// The id of the other vault; see ``StoreStatistics/vaultID``.
    package let otherVault: String
    package let since: Date

    init(_ mark: MoveMark) {
        stage =
            switch mark.stage {
            case .leaving: .leaving
            case .left: .left
            case .arriving: .arriving
            case .arrived: .arrived
            case .abandoned: .abandoned
            }
        otherVault = Base32.encode(mark.other)
        since = mark.since.date
    }
}
