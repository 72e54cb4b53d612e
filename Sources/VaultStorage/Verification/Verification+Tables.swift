import VaultCrypto

extension Verification {
    mutating func checkSmallTables() throws(StoreError) {
        try checkKeySlots()
        try checkOutbox()
        try checkAuthorizationRequests()
        try checkOrphans()
        try checkCounts()
    }

    /// Slots and pending revocations have no manifest; their number follows from what the trail tells.
    private mutating func checkCounts() throws(StoreError) {
        let row = try Statement(
            reader.connection,
            """
            SELECT (SELECT count(*) FROM keySlot) - 1 - sum(kind = ?1) + sum(kind = ?2),
                (SELECT count(*) FROM outbox) - sum(kind = ?3) + sum(kind IN (?4, ?5))
            FROM audit
            """)
        for (index, kind) in [
            AuditKind.keySlotAdded, .keySlotRemoved, .revocationQueued, .revocationConfirmed, .revocationAbandoned,
        ].enumerated() {
            row.bind(Int32(index + 1), kind.rawValue)
        }
        guard try row.step() else { return }
        if row.integer(0) != 0 { found("keySlot", nil, "there are not as many as the audit trail tells") }
        if row.integer(1) != 0 { found("outbox", nil, "there are not as many as the audit trail tells") }
    }

    mutating func checkProviders() throws(StoreError) {
        var missing = providerRevisions
        let row = try Statement(reader.connection, SQL.providers.description)
        while try row.step() {
            report.providers += 1
            let subject = row.bytes16(0).map { Base32.encode($0) }
            do throws(StoreError) {
                let stored = try reader.opener.provider(row)
                report.cells += 1
                if missing.removeValue(forKey: stored.handle) != stored.revision {
                    found("provider", subject, "its revision is not the one that the audit trail tells")
                }
            } catch {
                row.bytes16(0).map { _ = missing.removeValue(forKey: ProviderHandle($0)) }
                found(error, "provider", subject)
            }
        }
        for handle in missing.keys { found("provider", handle.text, "it is missing, and was not removed") }
    }

    private mutating func checkKeySlots() throws(StoreError) {
        let row = try Statement(
            reader.connection,
            "SELECT handle, kind, keyID, salt, operations, memoryKiB, label, createdAt, cell FROM keySlot")
        while try row.step() {
            do throws(StoreError) { _ = try KeySlotRows.slot(row) } catch { found(error, "keySlot", nil) }
        }
    }

    private mutating func checkOutbox() throws(StoreError) {
        let row = try Statement(reader.connection, "SELECT handle, nextAttemptAt, attempts, cell FROM outbox")
        while try row.step() {
            do throws(StoreError) {
                _ = try reader.opener.outboxEntry(row)
                report.cells += 1
            } catch {
                found(error, "outbox", nil)
            }
        }
    }

    private mutating func checkAuthorizationRequests() throws(StoreError) {
        let row = try Statement(reader.connection, "SELECT stateIndex, expiresAt, cell FROM authorizationRequest")
        while try row.step() {
            do throws(StoreError) {
                _ = try reader.opener.authorizationRequest(row)
                report.cells += 1
            } catch {
                found(error, "authorizationRequest", nil)
            }
        }
    }

    /// Rows that hang on nothing: a foreign key would not show secrets without tags, or intents that lost a login.
    private mutating func checkOrphans() throws(StoreError) {
        let row = try Statement(
            reader.connection,
            """
            SELECT 'login', login.id FROM login WHERE user NOT IN (SELECT id FROM user)
            UNION ALL SELECT 'loginSecret', login FROM loginSecret WHERE login NOT IN (SELECT id FROM login)
            UNION ALL SELECT 'refreshIntent', fence FROM refreshIntent WHERE login NOT IN (SELECT id FROM login)
            """)
        while try row.step() { found(row.text(0), "row \(row.integer(1))", "it belongs to nothing") }
    }
}
