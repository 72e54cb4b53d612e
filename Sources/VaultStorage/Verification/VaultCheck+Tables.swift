import VaultCrypto
import VaultMigrations

extension VaultCheck {
    /// Each starts at a row id and goes on in the order of the row ids.
    static func query(_ table: String) -> String {
        switch table {
        case "migration":
            """
            SELECT version, name, checksum, auditSequence FROM migration WHERE version >= ?1 ORDER BY version
            """
        case "keySlot":
            """
            SELECT handle, kind, keyID, salt, operations, memoryKiB, label, createdAt, cell, id FROM keySlot
            WHERE id >= ?1 ORDER BY id
            """
        case "provider": "SELECT id, handle, revision, cell, nameIndex FROM provider WHERE id >= ?1 ORDER BY id"
        case "user":
            """
            SELECT id, handle, blindIndex, revision, auditSequence, rootKey, cell FROM user
            WHERE id >= ?1 ORDER BY id
            """
        case "authorizationRequest":
            "SELECT id, stateIndex, expiresAt, cell FROM authorizationRequest WHERE id >= ?1 ORDER BY id"
        case "outbox": "SELECT id, handle, nextAttemptAt, attempts, cell FROM outbox WHERE id >= ?1 ORDER BY id"
        default:
            """
            SELECT sequence, time, kind, user, login, provider, revision, detailCell, mac FROM audit
            WHERE sequence >= ?1 ORDER BY sequence
            """
        }
    }

    /// Where the row id stands in the answer.
    static func rowIDColumn(_ table: String) -> Int32 { table == "keySlot" ? 9 : 0 }

    // MARK: Tables without a user

    /// Nothing authenticates it: it tells files apart, not attackers.
    func checkWALMark() throws(StoreError) {
        _ = try damageAsFinding("walMark") { () throws(StoreError) in
            let rows = try Statement(connection, "SELECT mark, previous, id, schemaCookie FROM walMark")
            let cookie = try connection.integer("PRAGMA schema_version")
            guard try rows.step(), rows.bytes16(0) != nil, rows.bytes16(1) != nil, rows.integer(2) == 1,
                (0...max(0, cookie)).contains(rows.integer(3)), try !rows.step()
            else {
                note("walMark", nil, "its row is missing or malformed")
                return
            }
        }
    }

    /// The schema's history must be the one that this program knows, whole. Its times are guarded by nothing.
    func checkMigration(_ row: Statement) throws(StoreError) {
        let version = row.integer(0)
        let isKnown = Migrations.all.contains {
            Int64($0.version) == version && $0.name == row.text(1) && $0.checksum == row.integer(2)
        }
        if !isKnown { report.note("migration", "\(version)", "this program never applied such a step") }
        guard let sequence = row.optionalInteger(3) else { return }
        let told = try connection.statement("SELECT 1 FROM audit WHERE sequence = ?1 AND kind IN (?2, ?3)")
        told.bind(1, sequence)
        told.bind(2, AuditKind.vaultCreated.rawValue)
        told.bind(3, AuditKind.vaultMigrated.rawValue)
        defer { told.reset() }
        if try !told.step() { report.note("migration", "\(version)", "the audit trail does not tell of it") }
    }

    func checkMigrationsAreComplete() throws(StoreError) {
        let found = try connection.integer("SELECT count(*) FROM migration")
        if found < Migrations.all.count { report.note("migration", nil, "a step of the schema's history is missing") }
    }

    /// Whether the slot could be what it says. Only its own key can tell more.
    func checkKeySlot(_ row: Statement) throws(StoreError) {
        do throws(StoreError) {
            let slot = try KeySlotRows.slot(row)
            let handle = slot.description.id
            let keyID = attempt("keySlot", handle) { () throws(VaultCryptoError) in
                try unsafe SealedCell.keyID(of: row.blob(8), kind: .wrappedVaultKey)
            }
            if let keyID, keyID != slot.description.keyID {
                note("keySlot", handle, "its cell is sealed with another key than the slot names")
            }
            if let row = currentRow(), !row.knows(slot) {
                note("keySlot", handle, "the vault does not know it: it was planted or put back")
            }
        } catch {
            note("keySlot", row.bytes16(0), error.reason)
        }
    }

    func checkProvider(_ row: Statement) throws(StoreError) {
        report.providers += 1
        guard let handle = row.bytes16(1) else {
            note("provider", nil, "its handle has the wrong type or length")
            return
        }
        let data = ProviderRecord.associatedData(context.vaultID, ProviderHandle(handle), revision: row.integer(2))
        unsafe checkRootCell("provider", handle, row.blob(3), .provider, data) { plaintext throws(VaultCryptoError) in
            let record = try unsafe ProviderRecord(plaintext)
            guard row.bytes16(4) != context.keyring.blindIndex(ofProviderName: record.name).bytes else { return }
            note("provider", handle, "its index does not belong to the name in its cell")
        }
        let tag = unsafe try? SealedCell.tag(of: row.blob(3))
        if let vault = currentRow(), vault.hasManifest, vault.manifest.providers[handle] != tag {
            note("provider", handle, "it is not the one that the vault knows last")
        }
    }

    func checkAuthorizationRequest(_ row: Statement) throws(StoreError) {
        guard let bytes = row.bytes16(1) else {
            note("authorizationRequest", nil, "its index has the wrong type or length")
            return
        }
        let index = BlindIndex(bytes)
        let expiresAt = Timestamp(milliseconds: row.integer(2))
        let data = AuthorizationRequestRecord.associatedData(context.vaultID, index, expiresAt: expiresAt)
        unsafe checkRootCell("authorizationRequest", bytes, row.blob(3), .authorizationRequest, data) {
            plaintext throws(VaultCryptoError) in
            let record = try unsafe AuthorizationRequestRecord(plaintext, expiresAt: expiresAt)
            let isItsOwn = unsafe record.state.withUnsafeBytes {
                unsafe context.keyring.blindIndex(of: $0, domain: .authorizationState) == index
            }
            if !isItsOwn { note("authorizationRequest", bytes, "its index does not belong to the state in its cell") }
        }
    }

    func checkOutboxEntry(_ row: Statement) throws(StoreError) {
        guard let handle = row.bytes16(1) else {
            note("outbox", nil, "its handle has the wrong type or length")
            return
        }
        let data = OutboxRecord.associatedData(
            context.vaultID, OutboxHandle(handle), nextAttemptAt: Timestamp(milliseconds: row.integer(2)),
            attempts: row.integer(3))
        unsafe checkRootCell("outbox", handle, row.blob(4), .outbox, data) { plaintext throws(VaultCryptoError) in
            _ = try unsafe OutboxRecord(plaintext, handle: OutboxHandle(handle))
        }
    }

    /// A cell that is sealed under the root key that its header names.
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
            note(table, handle, error.reason)
        }
    }
}
