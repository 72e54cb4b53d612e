package import VaultCrypto

/// The mark of a move of the vault's content to another vault, or from one. It is in the vault's manifest, so every
/// process that has the vault open sees it, and it cannot be set or removed without a key.
package struct MoveMark: Hashable, Sendable {
    /// The codes are stored.
    package enum Stage: UInt8, Hashable, Sendable, CaseIterable {
        /// Everything is moving to the other vault. From here on nothing is changed, so no refresh token is sent.
        case leaving = 1
        /// Everything has moved there.
        case left = 2
        /// Everything is moving from the other vault, and a part may still be missing.
        case arriving = 3
        /// Everything has arrived. The vault is used like any other.
        case arrived = 4
        /// The move was abandoned before everything had arrived.
        case abandoned = 5
    }

    package var stage: Stage
    /// The other vault.
    package let other: Bytes16
    /// When the vault was held, or when filling it began.
    package let since: Timestamp

    package init(_ stage: Stage, other: Bytes16, since: Timestamp) {
        self.stage = stage
        self.other = other
        self.since = since
    }
}

extension MoveMark {
    /// The same where the vault is the target of a move.
    package var refusalAsTarget: StoreError? {
        let reason: String
        switch stage {
        case .arrived: return nil
        case .leaving, .left: reason = "the target's content was moved to another vault"
        case .arriving: reason = "another move into the target is not complete"
        case .abandoned: reason = "a move into the target was given up"
        }
        return StoreError(
            .conflict, "\(reason): a move needs a vault that holds nothing yet",
            hint: "make a new one for it: vaultctl init --vault NEW --key-file NEW.key")
    }

    /// The reason why only the move itself may change the vault; nil if all changes are allowed.
    package var refusal: StoreError? {
        switch stage {
        case .arrived: nil
        case .leaving:
            StoreError(
                .moved, "the content of this vault is being moved to another vault",
                hint: "run the move again: vaultctl move run TARGET; or give it up: vaultctl move abort TARGET; with "
                    + "the target's own key, such as --target-key-file FILE; if the target no longer exists: "
                    + "vaultctl move abort --target-is-lost")
        case .left:
            StoreError(
                .moved, "the content of this vault was moved to another vault",
                hint: "use the other vault; which it is: vaultctl move status")
        case .arriving:
            StoreError(
                .moved, "the move into this vault is not complete",
                hint: "run the move again in its source: vaultctl move run TARGET --vault SOURCE; or give it up: "
                    + "vaultctl move abort TARGET --vault SOURCE; with the keys of both")
        case .abandoned:
            StoreError(
                .moved, "the move into this vault was given up",
                hint: "discard this vault, and make a new one for another move")
        }
    }
}
