import VaultCrypto

/// Where the check of the audit trail stands.
struct AuditProgress {
    var lastSequence: Int64 = 0
    var lastMAC = AuditMAC.genesis
    /// Users that the trail names and the vault does not have.
    var absentUsers: Set<Bytes16> = []
    /// Users that have a finding for being older than the trail.
    var outdatedUsers: Set<Bytes16> = []
    /// The last revision that the trail tells of each provider; there are few of them.
    var providers: [Bytes16: Int64] = [:]
    /// Logins of which the trail tells last that a renewal has begun; there are as many as are under way.
    var begunRenewals: Set<LoginHandle> = []
}

extension VaultCheck {
    /// A link of the chain, its detail, and whether the user it tells of is at least as new.
    func checkAuditRow(_ row: Statement) throws(StoreError) {
        report.auditRows += 1
        let sequence = row.integer(0)
        let subject = "\(sequence)"
        if sequence != audit.lastSequence &+ 1 { report.note("audit", subject, "rows before it are missing") }
        audit.lastSequence = sequence
        // A damaged row is told once: the next link is checked against what stands here.
        let previous = audit.lastMAC
        let mac = unsafe AuditMAC(row.blob(8))
        audit.lastMAC = mac ?? .genesis
        let columns = AuditColumns(row)
        guard !columns.isMalformed, mac != nil else {
            report.note("audit", subject, "a column has the wrong type or length")
            return
        }
        let detail = row.isNull(7) ? nil : unsafe row.blob(7)
        let tag = unsafe detail.flatMap { try? unsafe SealedCell.tag(of: $0) }
        guard unsafe (detail == nil) == (tag == nil), columns.link(context, previous: previous, detailTag: tag) == mac
        else {
            report.note("audit", subject, "it does not continue the chain: it, or a row before it, was changed")
            return
        }
        if let detail = unsafe detail { unsafe checkDetail(detail, columns) }
        noteRenewal(columns)
        try checkRevision(columns)
    }

    private func checkDetail(_ cell: UnsafeRawBufferPointer, _ columns: AuditColumns) {
        do throws(VaultCryptoError) {
            let opened = try unsafe SealedCell.Opened(
                cell, kind: .auditDetail, key: context.keyring.auditKey,
                associatedData: columns.detailData(context.vaultID), scratch: scratch)
            defer { opened.wipe(scratch) }
            _ = try unsafe [AuditEvent.Detail](opened.plaintext)
            report.cells += 1
        } catch {
            report.note("audit", "\(columns.sequence)", error.reason)
        }
    }

    /// A user or provider that is older than the trail was rolled back; one that the trail does not see go is deleted.
    private func checkRevision(_ columns: AuditColumns) throws(StoreError) {
        if let provider = columns.provider, columns.user == nil, let revision = columns.revision {
            audit.providers[provider.bytes] = columns.kind == .providerRemoved ? nil : revision
        }
        guard let user = columns.user, let revision = columns.revision else { return }
        let row = try connection.statement("SELECT revision FROM user WHERE handle = ?1")
        row.bind(1, user.bytes)
        defer { row.reset() }
        guard try row.step() else {
            audit.absentUsers.insert(user.bytes)
            return
        }
        if row.integer(0) < revision, audit.outdatedUsers.insert(user.bytes).inserted {
            note("user", user.bytes, "it is older than the audit trail records: a former state was put back")
        }
    }

    /// A renewal that has begun has an intent until a row tells of its end.
    private func noteRenewal(_ columns: AuditColumns) {
        guard let login = columns.login, columns.kind != .renewalRepeated else { return }
        if columns.kind == .renewalStarted || columns.kind == .intentTakenOver {
            audit.begunRenewals.insert(login)
        } else if !audit.begunRenewals.isEmpty {
            audit.begunRenewals.remove(login)
        }
    }

    private func checkRenewalsHaveIntents() throws(StoreError) {
        let row = try connection.statement(
            """
            SELECT 1 FROM login WHERE handle = ?1
                AND NOT EXISTS (SELECT 1 FROM refreshIntent WHERE refreshIntent.login = login.id)
                AND NOT EXISTS (SELECT 1 FROM audit WHERE sequence > ?2 AND audit.login = ?1)
            """)
        for login in audit.begunRenewals {
            row.bind(1, login.bytes)
            row.bind(2, audit.lastSequence)
            defer { row.reset() }
            guard try row.step() else { continue }
            note("refreshIntent", login.bytes, "it is missing, and the audit trail does not tell of its renewal's end")
        }
    }

    /// What only the whole trail can tell.
    func finishAudit() throws(StoreError) {
        _ = try damageAsFinding("audit") { () throws(StoreError) in
            try forgetErasedUsers()
            try checkCounts()
            try checkProvidersAreTold()
            try checkRenewalsHaveIntents()
        }
        for user in audit.absentUsers {
            note("user", user, "it is missing, and the audit trail does not tell of its erasure")
        }
    }

    private func forgetErasedUsers() throws(StoreError) {
        guard !audit.absentUsers.isEmpty else { return }
        let rows = try connection.statement("SELECT user FROM audit WHERE kind = ?1")
        rows.bind(1, AuditKind.userErased.rawValue)
        defer { rows.reset() }
        while try rows.step() {
            if let user = rows.bytes16(0) { audit.absentUsers.remove(user) }
        }
    }

    /// Slots and pending revocations have no manifest, but the trail tells how many there must be.
    private func checkCounts() throws(StoreError) {
        let row = try Statement(
            connection,
            """
            SELECT (SELECT count(*) FROM keySlot) - 1 - sum(kind = ?1) + sum(kind = ?2),
                (SELECT count(*) FROM outbox) - sum(kind = ?3) + sum(kind IN (?4, ?5))
            FROM audit
            """)
        let kinds: [AuditKind] = [
            .keySlotAdded, .keySlotRemoved, .revocationQueued, .revocationConfirmed, .revocationAbandoned,
        ]
        for (index, kind) in kinds.enumerated() { row.bind(Int32(index + 1), kind.rawValue) }
        guard try row.step() else { return }
        if row.integer(0) != 0 { note("keySlot", nil, "there are not as many as the audit trail tells") }
        if row.integer(1) != 0 { note("outbox", nil, "there are not as many as the audit trail tells") }
    }

    /// Each provider must be in the revision that the trail told last, and none may be missing.
    private func checkProvidersAreTold() throws(StoreError) {
        var missing = audit.providers
        let rows = try Statement(connection, "SELECT handle, revision FROM provider")
        while try rows.step() {
            guard let handle = rows.bytes16(0) else { continue }
            let revision = rows.integer(1)
            let told = missing.removeValue(forKey: handle) ?? 0
            if revision < told {
                note("provider", handle, "it is older than the audit trail records: a former state was put back")
            } else if revision > told, try !isTold(handle, .providerUpdated, .providerAdded) {
                note("provider", handle, "the audit trail does not tell of its last change")
            }
        }
        for handle in missing.keys where try !isTold(handle, .providerRemoved, .providerRemoved) {
            note("provider", handle, "it is missing, and the audit trail does not tell of its removal")
        }
    }

    /// Whether the trail has gone on to tell of a provider while the check was under way.
    private func isTold(_ provider: Bytes16, _ kind: AuditKind, _ otherKind: AuditKind) throws(StoreError) -> Bool {
        let row = try connection.statement(
            "SELECT 1 FROM audit WHERE sequence > ?1 AND provider = ?2 AND kind IN (?3, ?4) LIMIT 1")
        row.bind(1, audit.lastSequence)
        row.bind(2, provider)
        row.bind(3, kind.rawValue)
        row.bind(4, otherKind.rawValue)
        defer { row.reset() }
        return try row.step()
    }
}
