package import VaultCrypto

extension WriteTransaction {
    /// Makes the copy of a vault that this is one that only these recipients can open. It gets a new vault key, in slots of
    /// theirs alone, and a new root key, under which everything is sealed anew that opens. No key of the vault opens
    /// anything in it then, and what it holds of a user is gone with the recipients' identities.
    ///
    /// The keys of indexes and of the audit trail stay: the trail goes on. The context takes the new keys over, so it must be
    /// the copy's own.
    package func isolate(for recipients: [Recipient]) throws(StoreError) {
        let former = rows.keyring
        try replaceKeys(for: recipients)
        for root in [former.primaryRoot] + former.retiredRoots {
            var last: Int64? = .min
            while let after = last {
                last = try resealUsers(under: root.id, after: after, limit: Self.batchOfCopy).last
            }
        }
        for table in RootSealedTable.all {
            var last: Int64? = .min
            while let after = last {
                last = try resealRest(of: table.table, after: after, limit: Self.batchOfCopy).last
            }
        }
        var keyring = rows.keyring
        for root in keyring.retiredRoots { keyring = keyring.droppingRoot(root.id) }
        let isolated = keyring
        try changeVault(rotation("retired", isolated.primaryRoot.id)) { $0.keyring = isolated }
        context.adopt(rows.current)
    }

    /// There is no one to be let in between two batches: this bounds memory alone.
    private static let batchOfCopy = 1_000

    private func replaceKeys(for recipients: [Recipient]) throws(StoreError) {
        let (now, row, vault) = (context.clock(), rows.current, context.vaultID)
        let (slots, opened, keyring) = try sealing { () throws(VaultCryptoError) in
            let vaultKey = try SealingKey.generate()
            var slots: [KeySlot] = []
            for recipient in recipients {
                slots.append(
                    try KeySlot.wrap(
                        vaultKey, for: RecipientMaker(recipient), id: SecureRandom.bytes16(), label: recipient.text,
                        createdAt: now.milliseconds, vault: vault))
            }
            guard let first = slots.first else {
                throw VaultCryptoError(.malformedRecord, "the backup has no recipient")
            }
            let opened = OpenedSlot(vaultKey: vaultKey, slot: try ProvenKeySlot(first), isProven: false)
            return (slots, opened, try row.keyring.addingPrimaryRoot(madeAt: now.milliseconds))
        }
        let former = row.manifest.keySlots.handles
        for handle in former { try delete(KeySlotHandle(handle)) }
        for slot in slots { try add(slot) }
        let details = [AuditEvent.Detail("kept", "0"), AuditEvent.Detail("dropped", "\(former.count)")]
        try changeVault(AuditEvent(.vaultRekeyed, details)) { row in
            row.opened = opened
            row.keyring = keyring
        }
    }
}
