package import VaultCrypto

/// That what the vault holds goes to another vault, or comes from one. It stands in the vault's manifest, so no process
/// that has the vault open misses it, and it cannot be set or lifted without a key.
package struct MoveMark: Hashable, Sendable {
    /// Codes are stored.
    package enum Stage: UInt8, Hashable, Sendable, CaseIterable {
        /// Everything goes to the other vault. From here on nothing is changed, and so no refresh token is sent.
        case leaving = 1
        /// Everything has gone there.
        case left = 2
        /// Everything comes from the other vault, and a part may still be missing.
        case arriving = 3
        /// Everything has come from there. The vault is used as any other.
        case arrived = 4
        /// The move was given up before everything had come.
        case abandoned = 5
    }

    package var stage: Stage
    /// The other vault.
    package let other: Bytes16
    /// When the vault was held, or began to be filled.
    package let since: Timestamp

    package init(_ stage: Stage, other: Bytes16, since: Timestamp) {
        self.stage = stage
        self.other = other
        self.since = since
    }
}

extension MoveMark {
    /// Why the vault takes no changes but those of the move itself; nil if it takes all.
    package var refusal: StoreError? {
        switch stage {
        case .arrived: nil
        case .leaving:
            StoreError(
                .moved, "what this vault holds is being moved to another vault",
                hint: "run the move again until it is complete, and use the other vault")
        case .left:
            StoreError(.moved, "what this vault holds was moved to another vault", hint: "use the other vault")
        case .arriving:
            StoreError(
                .moved, "the move into this vault is not complete", hint: "run the move again until it is complete")
        case .abandoned:
            StoreError(
                .moved, "the move into this vault was given up",
                hint: "discard this vault, and make a new one for another move")
        }
    }
}
