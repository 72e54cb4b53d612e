import VaultCrypto

/// Where the check of the audit trail stands.
struct AuditProgress {
    var lastSequence: Int64 = 0
    var lastMAC = AuditMAC.genesis
    /// Users that the trail names and the vault does not have.
    var absentUsers: Set<Bytes16> = []
    /// Users that the trail says were erased.
    var erasedUsers: Set<Bytes16> = []
    /// How many there must be, by what the trail tells. A vault is made with one slot.
    var keySlots: Int64 = 1
    var revocations: Int64 = 0
    /// Users that have a finding for being older than the trail.
    var outdatedUsers: Set<Bytes16> = []
    /// The last revision that the trail tells of each provider; there are few of them.
    var providers: [Bytes16: Int64] = [:]
    /// Logins of which the trail tells last that a renewal has begun; there are as many as are under way.
    var begunRenewals: Set<LoginHandle> = []
}

extension VaultCheck {
    /// A link of the chain, its detail, and whether the user it tells of is at least as new.
    func checkAuditRow(_ row: any RowCursor) throws(StoreError) {
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
        count(columns)
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
            _ = try unsafe AuditDetail(opened.plaintext)
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
        let row = try tables.cursor(.userByHandle)
        row.bind(1, user.bytes)
        defer { row.reset() }
        guard try row.step() else {
            audit.absentUsers.insert(user.bytes)
            return
        }
        if row.integer(3) < revision, audit.outdatedUsers.insert(user.bytes).inserted {
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
        for login in audit.begunRenewals {
            guard try lacksIntent(login), try !tables.isTold(of: login, after: audit.lastSequence) else { continue }
            note("refreshIntent", login.bytes, "it is missing, and the audit trail does not tell of its renewal's end")
        }
    }

    /// Whether there is such a login, and no intent of it.
    private func lacksIntent(_ login: LoginHandle) throws(StoreError) -> Bool {
        let row = try tables.cursor(.intentOfLogin)
        return try row.withBinding(1, login.bytes) { () throws(StoreError) in try row.step() && row.isNull(0) }
    }

    /// What only the whole trail can tell.
    func finishAudit() throws(StoreError) {
        _ = try damageAsFinding("audit") { () throws(StoreError) in
            // One moment: the trail goes on while it is read.
            try tables.snapshot { () throws(StoreError) in
                try countLaterRows()
                try checkCounts()
                try checkProvidersAreTold()
                try checkRenewalsHaveIntents()
            }
        }
        for user in audit.absentUsers.subtracting(audit.erasedUsers) {
            note("user", user, "it is missing, and the audit trail does not tell of its erasure")
        }
    }

    private func countLaterRows() throws(StoreError) {
        let rows = try tables.cursor(.auditRows)
        defer { rows.reset() }
        rows.bind(1, audit.lastSequence)
        rows.bind(2, .max)
        while try rows.step() { count(AuditColumns(rows)) }
    }

    /// What a row says of how many rows there must be, and of users that are gone.
    private func count(_ columns: AuditColumns) {
        switch columns.kind {
        case .keySlotAdded: audit.keySlots += 1
        case .keySlotRemoved: audit.keySlots -= 1
        case .revocationQueued: audit.revocations += 1
        case .revocationConfirmed, .revocationAbandoned: audit.revocations -= 1
        case .userErased: if let user = columns.user { audit.erasedUsers.insert(user.bytes) }
        default: break
        }
    }

    /// Slots and pending revocations are counted by the trail.
    private func checkCounts() throws(StoreError) {
        if try tables.count(.keySlot) != audit.keySlots {
            note("keySlot", nil, "there are not as many as the audit trail tells")
        }
        if try tables.count(.outbox) != audit.revocations {
            note("outbox", nil, "there are not as many as the audit trail tells")
        }
    }

    /// Each provider must be in the revision that the trail told last, and none may be missing.
    private func checkProvidersAreTold() throws(StoreError) {
        var missing = audit.providers
        let rows = try tables.cursor(.providerRevisions)
        defer { rows.reset() }
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
        let row = try tables.cursor(.laterRowsOfProvider)
        row.bind(1, audit.lastSequence)
        row.bind(2, provider)
        defer { row.reset() }
        while try row.step() {
            if [kind, otherKind].map(\.rawValue).contains(row.integer(0)) { return true }
        }
        return false
    }
}

extension TableAccess {
    fileprivate func isTold(of login: LoginHandle, after sequence: Int64) throws(StoreError) -> Bool {
        let row = try cursor(.laterRowsOfLogin)
        row.bind(1, sequence)
        row.bind(2, login.bytes)
        defer { row.reset() }
        return try row.step()
    }
}

extension Query {
    fileprivate static let intentOfLogin = select(
        Table.refreshIntent.columns("fence"), from: .login,
        joins: [.optional(Table.refreshIntent["login"], is: Table.login["id"])],
        where: [.equal(Table.login["handle"], 1)])

    fileprivate static let laterRowsOfLogin = select(
        Table.audit.columns("sequence"), from: .audit,
        where: [.greater(Table.audit["sequence"], 1), .equal(Table.audit["login"], 2)])

    fileprivate static let laterRowsOfProvider = select(
        Table.audit.columns("kind"), from: .audit,
        where: [.greater(Table.audit["sequence"], 1), .equal(Table.audit["provider"], 2)])

    fileprivate static let providerRevisions = select(Table.provider.columns("handle", "revision"), from: .provider)
}
