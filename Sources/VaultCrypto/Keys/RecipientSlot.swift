import CSodium

/// Makes slots for a recipient, without its identity.
package struct RecipientMaker: SlotMaker {
    private let recipient: Recipient

    package init(_ recipient: Recipient) { self.recipient = recipient }

    package func makeSlot(
        id: Bytes16, label: String, createdAt: Int64
    ) throws(VaultCryptoError) -> (description: KeySlotDescription, key: SealingKey) {
        let ephemeral = try SealingKey.generate()
        return try withExtendedLifetime(ephemeral) { () throws(VaultCryptoError) in
            let share = try unsafe X25519.recipient(of: ephemeral.pointer).bytes
            let key = try unsafe SealingKey.slotKey { target throws(VaultCryptoError) in
                try unsafe X25519.wrapKey(
                    secret: ephemeral.pointer, peer: recipient.bytes, share: share, recipient: recipient, into: target)
            }
            let description = try KeySlotDescription(
                id: id, keyID: key.id, kind: .recipient(recipient, share: share), label: label, createdAt: createdAt)
            return (description, key)
        }
    }
}

/// Age identities, kept in guarded memory. New slots are made for the first one.
package struct IdentityUnlocker: SlotUnlocker, SlotMaker {
    private let identities: [Identity]

    package init(path: String) throws(VaultCryptoError) { identities = try Identity.read(at: path) }

    package init(_ contents: SecretBytes) throws(VaultCryptoError) { identities = try Identity.parse(contents) }

    package func slotKey(for slot: KeySlotDescription) throws(VaultCryptoError) -> SealingKey? {
        guard case .recipient(let recipient, let share) = slot.kind else { return nil }
        for identity in identities where identity.recipient == recipient {
            if let key = identity.slotKey(share: share), key.id == slot.keyID { return key }
        }
        return nil
    }

    /// The slot gets another key whenever it is resealed.
    package func follower(of key: SealingKey) -> any SlotUnlocker { self }

    package func makeSlot(
        id: Bytes16, label: String, createdAt: Int64
    ) throws(VaultCryptoError) -> (description: KeySlotDescription, key: SealingKey) {
        guard let first = identities.first else {
            throw VaultCryptoError(.keyFileTruncated, "the identity file holds no identity")
        }
        return try RecipientMaker(first.recipient).makeSlot(id: id, label: label, createdAt: createdAt)
    }
}
