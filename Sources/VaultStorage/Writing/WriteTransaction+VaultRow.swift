import VaultCrypto

extension WriteTransaction {
    /// Changes the vault's row and records the change. The manifest is resealed, and the keyring too if it changed.
    ///
    /// - Parameter subject: the subject of the audit row. If it names no provider, its revision is that of the vault's
    ///   row.
    package func changeVault(
        _ event: AuditEvent, about subject: AuditSubject = AuditSubject(), _ change: (inout VaultRow) -> Void
    ) throws(StoreError) {
        if !rows.current.hasManifest, event.kind != .vaultMigrated { try auditMigrations() }
        let old = rows.current
        var row = old
        change(&row)
        guard row.manifest.providers.count <= VaultManifest.mostProviders else {
            throw StoreError(
                .invalidValue, "a vault has at most \(VaultManifest.mostProviders) providers",
                hint: "remove providers that no login uses")
        }
        // The slot that opened the vault is proven by that, and the row is written in any case.
        if row.opened.isProven { row.manifest.noteProof(of: row.opened.slot.handle.bytes, at: context.clock()) }
        row.revision += 1
        row.auditSequence = head.sequence + 1
        var subject = subject
        subject.revision = subject.revision ?? row.revision
        try audit(event, about: subject, under: row.keyring)
        if row.keyring !== old.keyring || row.incarnation != old.incarnation || row.vaultKey !== old.vaultKey {
            let cell = try sealing { () throws(VaultCryptoError) in try row.sealKeyring(context.vaultID) }
            let update = try tables.cursor(.updateKeyring)
            update.bind(1, 1)
            update.bind(2, row.incarnation)
            update.bind(3, cell)
            try update.run()
        }
        try write(&row)
        rows.restore(row)
    }

    /// Begins a new incarnation: logins keep their tokens, and none of their refresh tokens is sent.
    package func holdAllLogins(_ event: AuditEvent) throws(StoreError) {
        try changeVault(event) { $0.incarnation += 1 }
        try raiseFences()
    }

    private func write(_ row: inout VaultRow) throws(StoreError) {
        let cell = try sealing { () throws(VaultCryptoError) in try row.sealManifest(context.vaultID) }
        let update = try tables.cursor(.updateManifest)
        update.bind(1, 1)
        update.bind(2, row.revision)
        update.bind(3, row.auditSequence)
        update.bind(4, cell)
        try update.run()
    }

    /// The manifest of a vault that had none, built from the existing rows. A damaged provider is left out, because it
    /// was refused before. Only a key slot's own key can prove more than its shape.
    func collectManifest() throws(StoreError) -> VaultManifest {
        var manifest = VaultManifest()
        for slot in try KeySlotRows.all(tables).slots { manifest.add(slot) }
        let row = try tables.cursor(.providerPage)
        defer { row.reset() }
        row.bind(1, .min)
        row.bind(2, .max)
        while try row.step() {
            guard let provider = try? opener.provider(row) else { continue }
            manifest.providers[provider.handle.bytes] = unsafe try? SealedCell.tag(of: row.blob(2))
        }
        return manifest
    }
}

extension Query {
    // The vault's row has number 1.

    fileprivate static let updateKeyring = update(
        .vault, "incarnation", "keyringCell", first: 2, where: [.equal(Table.vault["id"], 1)])

    fileprivate static let updateManifest = update(
        .vault, "revision", "auditSequence", "manifestCell", first: 2, where: [.equal(Table.vault["id"], 1)])
}
