import VaultCrypto

/// The progress of the check of the audit trail.
struct AuditProgress {
    var lastSequence: Int64 = 0
    var lastMAC = AuditMAC.genesis
    /// Users that the trail names and the vault lacks.
    var absentUsers: Set<Bytes16> = []
    /// Users that were erased according to the trail.
    var erasedUsers: Set<Bytes16> = []
    /// The start of the unbroken trail, from which the expected numbers are counted.
    var pruning = TrailPruning.none
    /// The row that records it.
    var prunedBy: Int64?
    /// The number of kept rows seen so far.
    var kept: Int64 = 0
    var keptMarks = AuditMAC.genesis
    var isPastPruned = false
    /// The number of times that the check was restarted, because the trail was pruned in the meantime.
    var restarts = 0
    /// Users with a finding because they are older than the trail.
    var outdatedUsers: Set<Bytes16> = []
    /// The last revision of each provider in the trail; there are few providers.
    var providers: [Bytes16: Int64] = [:]
    /// Logins whose last row in the trail is the start of a renewal; there are as many as open renewals.
    var begunRenewals: Set<LoginHandle> = []
    /// The highest fence of a renewal in the trail.
    var highestFence: Int64 = 0
}

extension VaultCheck {
    /// Checks a link of the chain, its detail, and whether the user that it names is at least as new.
    func checkAuditRow(_ row: any RowCursor) throws(StoreError) {
        report.auditRows += 1
        let link = AuditLink(row)
        let subject = "\(link.columns.sequence)"
        let isKept = link.columns.sequence <= audit.pruning.through
        if !isKept { passPruned() }
        guard !leavesChain(link) else { return }
        let before = (audit.lastSequence, audit.lastMAC)
        let previous = isKept ? keptLink(row, link) : chainLink(row, link)
        let continues = if let previous { (try? opener.continues(link, previous)) ?? false } else { false }
        if !continues, !isKept, isBehindEnd(link) {
            (audit.lastSequence, audit.lastMAC) = before
            return
        }
        noteEnds(link.columns)
        if !isKept { audit.pruning.count(link.columns.kind) }
        guard link.hasShape else {
            report.note("audit", subject, "a column has the wrong type or length")
            return
        }
        guard continues else {
            report.note("audit", subject, "it does not continue the chain: it, or a row before it, was changed")
            return
        }
        if !row.isNull(7) { unsafe checkDetail(row.blob(7), link.columns) }
        noteRenewal(link.columns)
        try checkRevision(link.columns)
    }

    /// The link that the row must continue: that of the previous row, without a gap.
    private func chainLink(_ row: any RowCursor, _ link: AuditLink) -> AuditMAC? {
        let (sequence, previous) = (link.columns.sequence, audit.lastMAC)
        let subject = "\(sequence)"
        if sequence != audit.lastSequence &+ 1 { report.note("audit", subject, "rows before it are missing") }
        // Only the first row of the chain after a pruning records the link that it continues.
        let begins = audit.lastSequence == audit.pruning.through && audit.pruning.through > 0
        let told = row.isNull(9) ? nil : unsafe AuditMAC(row.blob(9))
        if row.isNull(9) == begins || begins && told != previous {
            report.note("audit", subject, "its link to the previous row was changed")
        }
        audit.lastSequence = sequence
        // A damaged row is reported once: the next link is checked against this one.
        audit.lastMAC = link.mac ?? .genesis
        return previous
    }

    /// The link that a kept row must continue: the one that the row itself records.
    private func keptLink(_ row: any RowCursor, _ link: AuditLink) -> AuditMAC? {
        audit.kept += 1
        audit.keptMarks =
            audit.keptMarks
            ^ TrailPruning.mark(
                of: link.columns.sequence, link.mac ?? .genesis, context.vaultID,
                under: opener.keyring.auditKey(ofRow: audit.prunedBy ?? 0))
        return row.isNull(9) ? nil : unsafe AuditMAC(row.blob(9))
    }

    /// Notes that all kept rows were seen, and that the unbroken chain begins.
    private func passPruned() {
        guard !audit.isPastPruned else { return }
        audit.isPastPruned = true
        (audit.lastSequence, audit.lastMAC) = (audit.pruning.through, audit.pruning.link)
        guard audit.kept == audit.pruning.kept, audit.keptMarks == audit.pruning.keptMarks else {
            report.note("audit", nil, "the rows up to \(audit.pruning.through) are not those that its pruning left")
            return
        }
    }

    // MARK: Pruning during the check

    /// The position from which to check the next rows. Rows that were pruned in the meantime are not damage. The check
    /// restarts if a pruning went beyond the checked rows, or removed rows that earlier prunings had kept.
    func placeInAudit(_ start: Int64) throws(StoreError) -> Int64 {
        let last = try lastPruning()
        guard start != .min else {
            beginAudit(with: last)
            return start
        }
        guard let last, last.sequence != audit.prunedBy, !audit.isPastPruned || start <= last.pruning.through else {
            return start
        }
        let restarts = audit.restarts + 1
        report = reportBeforeAudit
        beginAudit(with: last)
        audit.restarts = restarts
        return .min
    }

    /// If the row that records the pruning is damaged, the walk finds that row, and the gap that it should explain.
    private func lastPruning() throws(StoreError) -> AuditTrail.LastPruning? {
        do throws(StoreError) {
            return try AuditTrail(opener).lastPruning()
        } catch {
            guard error.isDamage else { throw error }
            return nil
        }
    }

    private func beginAudit(with last: AuditTrail.LastPruning?) {
        reportBeforeAudit = report
        audit = AuditProgress()
        audit.pruning = last?.pruning ?? .none
        audit.prunedBy = last?.sequence
    }

    /// Whether the kept rows are checked in one transaction, because the check was restarted too often.
    var holdsAudit: Bool { audit.restarts >= 3 && !audit.isPastPruned }

    private func checkDetail(_ cell: UnsafeRawBufferPointer, _ columns: AuditColumns) {
        do throws(VaultCryptoError) {
            let opened = try unsafe SealedCell.Opened(
                cell, kind: .auditDetail, key: opener.keyring.auditKey(ofRow: columns.sequence),
                associatedData: columns.detailData(context.vaultID), scratch: scratch)
            defer { opened.wipe(scratch) }
            audit.highestFence = max(audit.highestFence, try unsafe AuditDetail(opened.plaintext).fence ?? 0)
            report.cells += 1
        } catch {
            report.note("audit", "\(columns.sequence)", error.message)
        }
    }

    /// A user or provider that is older than the trail was rolled back. One that is missing without a row for its end
    /// was deleted.
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
            note("user", user.bytes, Self.formerState, isRollback: true)
        }
    }

    /// A renewal that has begun has an intent until a row records its end.
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
            note("refreshIntent", login.bytes, "it is missing, and the audit trail does not record its renewal's end")
        }
    }

    /// Whether the login exists and has no intent.
    private func lacksIntent(_ login: LoginHandle) throws(StoreError) -> Bool {
        let row = try tables.cursor(.intentOfLogin)
        return try row.withBinding(1, login.bytes) { () throws(StoreError) in try row.step() && row.isNull(0) }
    }

    /// Checks that need the whole trail.
    func finishAudit() throws(StoreError) {
        passPruned()
        _ = try damageAsFinding("audit") { () throws(StoreError) in
            // In one snapshot, because the trail continues while it is read.
            try tables.snapshot { () throws(StoreError) in
                try countLaterRows()
                try checkCounts()
                try checkProvidersAreTold()
                try checkRenewalsHaveIntents()
            }
        }
        for user in audit.absentUsers.subtracting(audit.erasedUsers) {
            note("user", user, "it is missing, and the audit trail does not record its erasure")
        }
    }

    private func countLaterRows() throws(StoreError) {
        let rows = try tables.cursor(.auditRows)
        defer { rows.reset() }
        let end = try AuditTrail(opener).end().position.sequence
        rows.bind(1, audit.lastSequence)
        rows.bind(2, .max)
        while try rows.step() {
            let columns = AuditColumns(rows)
            guard columns.sequence <= end else { return }
            audit.pruning.count(columns.kind)
            noteEnds(columns)
        }
    }

    private func noteEnds(_ columns: AuditColumns) {
        if columns.kind == .userErased, let user = columns.user { audit.erasedUsers.insert(user.bytes) }
    }

    /// Compares slots and pending revocations with the counts in the trail.
    private func checkCounts() throws(StoreError) {
        if try tables.count(.keySlot) != audit.pruning.keySlots {
            note("keySlot", nil, "their number differs from the audit trail's")
        }
        if try tables.count(.outbox) != audit.pruning.revocations {
            note("outbox", nil, "their number differs from the audit trail's")
        }
    }

    /// Each provider must have the revision that the trail recorded last, and none may be missing.
    private func checkProvidersAreTold() throws(StoreError) {
        var missing = audit.providers
        let rows = try tables.cursor(.providerRevisions)
        defer { rows.reset() }
        while try rows.step() {
            guard let handle = rows.bytes16(0) else { continue }
            let revision = rows.integer(1)
            let told = missing.removeValue(forKey: handle) ?? 0
            if revision < told {
                note("provider", handle, Self.formerState, isRollback: true)
            } else if revision > told, try !isTold(handle, .providerUpdated, .providerAdded) {
                note("provider", handle, "the audit trail does not record its last change")
            }
        }
        for handle in missing.keys where try !isTold(handle, .providerRemoved, .providerRemoved) {
            note("provider", handle, "it is missing, and the audit trail does not record its removal")
        }
    }

    /// Whether the trail recorded a provider while the check was under way.
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
        where: [.greater(Table.audit["sequence"], 1), .equal(Table.audit["login"], 2)], mostRows: 1)

    fileprivate static let laterRowsOfProvider = select(
        Table.audit.columns("kind"), from: .audit,
        where: [.greater(Table.audit["sequence"], 1), .equal(Table.audit["provider"], 2)])

    fileprivate static let providerRevisions = select(Table.provider.columns("handle", "revision"), from: .provider)
}
