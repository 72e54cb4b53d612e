import VaultCrypto

extension VaultCheck {
    /// The vault's own row: its keyring, its manifest, and the audit row that records its last change.
    func checkVault() throws(StoreError) {
        do throws(StoreError) {
            _ = try context.load(tables, known: context.rows.current, isAnew: true)
            try rows.look(tables, context)
            report.cells += 2
        } catch {
            guard error.isDamage || error.code == .rollbackSuspected else { throw error }
            note("vault", nil, error.message)
            return
        }
        guard let row = currentRow() else { return }
        guard row.hasManifest else {
            note("vault", nil, "it has no manifest of its key slots and providers")
            return
        }
        _ = try damageAsFinding("vault") { () throws(StoreError) in
            try tables.snapshot { () throws(StoreError) in try checkIsTold() }
        }
    }

    /// The vault's row in the same state as the rows being checked.
    func currentRow() -> VaultRow? { try? rows.look(tables, context) }

    private func checkIsTold() throws(StoreError) {
        guard let row = currentRow() else { return }
        let told = try tables.cursor(.auditRow)
        told.bind(1, row.auditSequence)
        defer { told.reset() }
        if try !told.step() || !told.isNull(3) || !told.isNull(4) || told.isNull(6) {
            note("vault", nil, "the audit trail does not record its last change")
        }
        if try AuditTrail(opener).reportsLater(than: row) {
            note("vault", nil, Self.formerState, isRollback: true)
        }
    }

    /// Every row that the manifest names must exist.
    func checkManifestIsComplete() throws(StoreError) {
        try tables.snapshot { () throws(StoreError) in
            guard let row = currentRow() else { return }
            try checkAreThere(.keySlot, row.manifest.keySlots)
            try checkAreThere(.provider, row.manifest.providers)
        }
    }

    private func checkAreThere(_ table: Table, _ entries: VaultManifest.Entries) throws(StoreError) {
        var missing = Set(entries.handles)
        let handles = try tables.cursor(.handles[table])
        defer { handles.reset() }
        while try handles.step() {
            if let handle = handles.bytes16(0) { missing.remove(handle) }
        }
        for handle in missing { note(table.rawValue, handle, "the vault's manifest names it, and it is missing") }
    }
}

extension Query {
    fileprivate static let handles = PerTable { select($0.columns("handle"), from: $0) }
}
