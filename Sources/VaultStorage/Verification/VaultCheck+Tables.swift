import VaultCrypto
import VaultMigrations

extension VaultCheck {
    /// The rows of a table in the order of their numbers, from parameter 1 on.
    struct Walk: Equatable {
        let table: Table
        let query: Query
        /// The column of the number.
        let keyColumn: Int32

        static let migration = Walk(table: .migration, query: .migrations, keyColumn: 0)
        static let keySlot = Walk(table: .keySlot, query: .keySlotsFrom, keyColumn: 9)
        static let provider = Walk(table: .provider, query: .providerPage, keyColumn: 4)
        static let user = Walk(table: .user, query: .users, keyColumn: 0)
        static let authorizationRequest = Walk(
            table: .authorizationRequest, query: .authorizationRequests, keyColumn: 3)
        static let outbox = Walk(table: .outbox, query: .outbox, keyColumn: 4)
        static let backup = Walk(table: .backup, query: .backups, keyColumn: 0)
        static let observer = Walk(table: .observer, query: .observers, keyColumn: 0)
        static let manifestPart = Walk(table: .manifestPart, query: .manifestPartRows, keyColumn: 0)
        static let audit = Walk(table: .audit, query: .auditRowsFrom, keyColumn: 0)
    }

    // MARK: Tables without a user

    /// The schema's history must be complete and known to this program. Its times are not authenticated.
    func checkMigration(_ row: any RowCursor) throws(StoreError) {
        let version = row.integer(0)
        let isKnown = tables.migrations.contains {
            Int64($0.version) == version && $0.name == row.text(1) && $0.checksum == row.integer(2)
        }
        if !isKnown { report.note("migration", "\(version)", "this program never applied such a step") }
        guard let sequence = row.optionalInteger(3) else { return }
        let told = try tables.cursor(.auditRow)
        told.bind(1, sequence)
        defer { told.reset() }
        let kinds = [AuditKind.vaultCreated, .vaultMigrated].map(\.rawValue)
        if try !told.step() || !kinds.contains(told.integer(2)) {
            report.note("migration", "\(version)", "the audit trail does not record it")
        }
    }

    func checkMigrationsAreComplete() throws(StoreError) {
        if try tables.count(.migration) < tables.migrations.count {
            report.note("migration", nil, "a step of the schema's history is missing")
        }
    }

    /// Whether the slot is plausible. Only its own key can prove more.
    func checkKeySlot(_ row: any RowCursor) throws(StoreError) {
        do throws(StoreError) {
            let slot = try KeySlotRows.slot(row)
            let handle = slot.description.id
            let keyID = attempt("keySlot", handle) { () throws(VaultCryptoError) in
                try unsafe SealedCell.keyID(of: row.blob(8), kind: .wrappedVaultKey)
            }
            if let keyID, keyID != slot.description.keyID {
                note("keySlot", handle, "its cell is sealed with another key than the slot names")
            }
            guard let row = currentRow() else { return }
            if !row.knows(slot) {
                note("keySlot", handle, "the vault does not know it: it was planted or put back")
            } else if case .recipient(let recipient, _) = slot.description.kind,
                row.manifest.recipients[handle] != recipient
            {
                note("keySlot", handle, "it names another recipient than the vault's manifest")
            }
        } catch {
            note("keySlot", row.bytes16(0), error.message)
        }
    }

    func checkBackup(_ row: any RowCursor) throws(StoreError) {
        do throws(StoreError) { _ = try BackupRecord(row, opener) } catch {
            note("backup", row.bytes16(1), error.message)
        }
    }

    func checkObserver(_ row: any RowCursor) throws(StoreError) {
        do throws(StoreError) { _ = try ObserverRecord(row, opener) } catch {
            report.note("observer", "\(row.integer(0))", error.message)
        }
    }

    func checkProvider(_ row: any RowCursor) throws(StoreError) {
        report.providers += 1
        guard let handle = row.bytes16(0) else {
            note("provider", nil, "its handle has the wrong type or length")
            return
        }
        let data = ProviderRecord.associatedData(context.vaultID, ProviderHandle(handle), revision: row.integer(1))
        unsafe checkRootCell("provider", handle, row.blob(2), .provider, data) { plaintext throws(VaultCryptoError) in
            let record = try unsafe ProviderRecord(plaintext)
            if isIndex(row.bytes16(3), { $0.blindIndexes(ofProviderName: record.name) }) { return }
            note("provider", handle, "its index does not belong to the name in its cell")
        }
        let tag = unsafe try? SealedCell.tag(of: row.blob(2))
        if let vault = currentRow(), vault.hasManifest, vault.manifest.providers[handle] != tag {
            note("provider", handle, "it is not the version that the vault's row lists")
        }
    }

    func checkAuthorizationRequest(_ row: any RowCursor) throws(StoreError) {
        guard let bytes = row.bytes16(0) else {
            note("authorizationRequest", nil, "its index has the wrong type or length")
            return
        }
        let index = BlindIndex(bytes)
        let expiresAt = Timestamp(milliseconds: row.integer(1))
        let data = AuthorizationRequestRecord.associatedData(context.vaultID, index, expiresAt: expiresAt)
        unsafe checkRootCell("authorizationRequest", bytes, row.blob(2), .authorizationRequest, data) {
            plaintext throws(VaultCryptoError) in
            let record = try unsafe AuthorizationRequestRecord(plaintext, expiresAt: expiresAt)
            if isIndex(bytes, { $0.blindIndexes(ofState: record.state) }) { return }
            note("authorizationRequest", bytes, "its index does not belong to the state in its cell")
        }
    }

    func checkOutboxEntry(_ row: any RowCursor) throws(StoreError) {
        guard let handle = row.bytes16(0) else {
            note("outbox", nil, "its handle has the wrong type or length")
            return
        }
        let data = OutboxRecord.associatedData(
            context.vaultID, OutboxHandle(handle), nextAttemptAt: Timestamp(milliseconds: row.integer(1)),
            attempts: row.integer(2))
        unsafe checkRootCell("outbox", handle, row.blob(3), .outbox, data) { plaintext throws(VaultCryptoError) in
            _ = try unsafe OutboxRecord(plaintext, handle: OutboxHandle(handle))
        }
    }

    /// Whether an index is the right one for its row.
    func isIndex(_ index: Bytes16?, _ indexes: (Keyring) -> BlindIndexes) -> Bool {
        guard let index = index.map({ BlindIndex($0) }) else { return false }
        if indexes(context.keyring).contains(index) { return true }
        return currentRow().map { indexes($0.keyring).contains(index) } ?? false
    }

    /// Checks a cell that is sealed under the root key that its header names.
    private func checkRootCell(
        _ table: String, _ handle: Bytes16, _ cell: UnsafeRawBufferPointer, _ kind: CellKind,
        _ data: borrowing AssociatedData, _ read: (UnsafeRawBufferPointer) throws(VaultCryptoError) -> Void
    ) {
        do throws(VaultCryptoError) {
            let key = try context.root(try unsafe SealedCell.keyID(of: cell, kind: kind))
            let opened = try unsafe SealedCell.Opened(
                cell, kind: kind, key: key, associatedData: data, scratch: scratch)
            defer { opened.wipe(scratch) }
            try unsafe read(opened.plaintext)
            report.cells += 1
        } catch {
            note(table, handle, error.message)
        }
    }
}

extension Query {
    fileprivate static let manifestPartRows = select(
        Table.manifestPart.columns("id"), from: .manifestPart, where: [.atLeast(Table.manifestPart["id"], 1)],
        order: [.up(Table.manifestPart["id"])], limit: 2)

    fileprivate static let migrations = select(
        Table.migration.columns("version", "name", "checksum", "auditSequence"), from: .migration,
        where: [.atLeast(Table.migration["version"], 1)], order: [.up(Table.migration["version"])], limit: 2)
}
