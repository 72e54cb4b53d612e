package import VaultCrypto

extension WriteTransaction {
    /// Turns this copy of a vault into one that only these recipients can open. It gets a new vault key, only in slots
    /// of the recipients, and a new root key, under which every cell that opens is resealed. Then no key of the vault
    /// opens anything in the copy, and its data about a user is lost with the recipients' identities.
    ///
    /// The keys of indexes and of the audit trail stay, because the trail continues. The context takes over the new
    /// keys, so it must be the copy's own.
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

    /// No other writer waits between two batches: this limit only bounds memory.
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
