import VaultCrypto

extension VaultCheck {
    /// The vault's own row: its keyring, its manifest, and the audit row that records its last change.
    func checkVault() throws(StoreError) {
        do throws(StoreError) {
            _ = try VaultRow.load(connection, vault: context.vaultID, under: context.vaultKey)
            try rows.look(connection, context)
            report.cells += 2
        } catch {
            guard error.isDamage || error.code == .rollbackSuspected else { throw error }
            note("vault", nil, error.reason)
            return
        }
        guard let row = currentRow() else { return }
        guard row.hasManifest else {
            note("vault", nil, "it has no manifest of its key slots and providers")
            return
        }
        _ = try damageAsFinding("vault") { () throws(StoreError) in
            try snapshot { () throws(StoreError) in try checkIsTold() }
        }
    }

    /// The vault's row in the state that the rows have which are being checked.
    func currentRow() -> VaultRow? { try? rows.look(connection, context) }

    private func checkIsTold() throws(StoreError) {
        guard let row = currentRow() else { return }
        let told = try connection.statement(
            "SELECT 1 FROM audit WHERE sequence = ?1 AND user IS NULL AND login IS NULL AND revision IS NOT NULL")
        told.bind(1, row.auditSequence)
        defer { told.reset() }
        if try !told.step() { note("vault", nil, "the audit trail does not tell of its last change") }
        if try AuditTrail(connection: connection, context: context).tellsOfLater(than: row) {
            note("vault", nil, "it is older than the audit trail records: a former state was put back")
        }
    }

    /// What the manifest names must be there.
    func checkManifestIsComplete() throws(StoreError) {
        try snapshot { () throws(StoreError) in
            guard let row = currentRow() else { return }
            try checkAreThere("keySlot", row.manifest.keySlots)
            try checkAreThere("provider", row.manifest.providers)
        }
    }

    private func checkAreThere(_ table: String, _ entries: VaultManifest.Entries) throws(StoreError) {
        var missing = Set(entries.handles)
        let handles = try Statement(connection, "SELECT handle FROM \(table)")
        while try handles.step() {
            if let handle = handles.bytes16(0) { missing.remove(handle) }
        }
        for handle in missing { note(table, handle, "the vault's manifest names it, and it is missing") }
    }

    private func snapshot(_ body: () throws(StoreError) -> Void) throws(StoreError) {
        try connection.execute("BEGIN")
        defer { if !connection.isOutsideTransaction { try? connection.execute("COMMIT") } }
        try body()
    }
}
