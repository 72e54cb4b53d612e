package import VaultCrypto

/// Replaces the key of the audit trail, in one transaction.
///
/// Rows keep their links, because these were exported and others compare them. A former key opens and checks its part
/// of the trail for as long as a row of that part exists. By itself it proves nothing then: the first row under the new
/// key covers the last link under the former one, and so every row before it.
extension WriteTransaction {
    /// Rows that are rewritten under the new key, because they do not depend on a row of the trail.
    private struct Journals {
        var intents: [(login: LoginHandle, record: IntentRecord)] = []
        var backups: [BackupRecord] = []
        var observers: [ObserverRecord] = []
    }

    /// Writes the trail under another key from the next row on.
    ///
    /// - Parameters:
    ///   - kept: the marks found before; nil to search for them now, while other writers wait.
    /// - Returns: Whether the key was replaced. False if the trail was pruned since `kept` was found.
    package func replaceAuditKey(by new: SealingKey, _ kept: KeptMarks?) throws(StoreError) -> Bool {
        let former = rows.keyring.auditKey
        guard rows.keyring.formerAuditKeys.count < Keyring.mostFormerAuditKeys else {
            throw StoreError(
                .conflict,
                "the audit trail has rows under \(Keyring.mostFormerAuditKeys) former keys, and no more are kept",
                hint: "remove old rows: `vaultctl audit prune`")
        }
        let last = try AuditTrail(opener).lastPruning()
        let marks = if let kept { kept } else { try KeptMarks(opener, under: new) }
        guard marks.last == last else { return false }
        let journals = try journals()
        try audit(replacement("announced", new.id), about: AuditSubject())
        let now = now().milliseconds
        try changeVault(replacement("begun", former.id)) {
            $0.keyring = $0.keyring.replacingAuditKey(by: new, after: head.sequence, at: now)
        }
        // The holder of the former key must not be able to forge what was pruned, or which rows were kept.
        var event = AuditEvent(.trailPruned)
        event.pruning = marks.pruning
        try audit(event, about: AuditSubject())
        try write(journals)
        return true
    }

    /// Retires former keys under which the trail has no more rows, and records it.
    ///
    /// - Parameter sequence: the last row that prunings have removed.
    func giveUpAuditKeys(through sequence: Int64) throws(StoreError) {
        var first: Int64 = 0
        for former in rows.keyring.formerAuditKeys where former.through <= sequence {
            if try !hasRow(after: first, through: former.through) {
                try changeVault(replacement("retired", former.key.id)) {
                    $0.keyring = $0.keyring.droppingAuditKey(former.key.id)
                }
            }
            first = former.through
        }
    }

    private func replacement(_ phase: String, _ key: KeyID) -> AuditEvent {
        AuditEvent(
            .auditKeyReplaced,
            [AuditEvent.Detail("phase", phase), AuditEvent.Detail("key", Base32.encode(key.bytes))])
    }

    private func hasRow(after first: Int64, through last: Int64) throws(StoreError) -> Bool {
        let row = try tables.cursor(.rowBetween)
        defer { row.reset() }
        row.bind(1, first)
        row.bind(2, last)
        return try row.step()
    }

    // MARK: Intents, backups and observers
    // There are as many intents as open renewals. A row that does not open stays as it is.

    private func journals() throws(StoreError) -> Journals {
        var journals = Journals()
        let intents = try tables.cursor(.openIntents)
        do {
            defer { intents.reset() }
            intents.bind(1, .min)
            intents.bind(2, .max)
            while try intents.step() {
                guard let bytes = intents.bytes16(0) else { continue }
                let login = LoginHandle(bytes)
                guard let record = try? IntentRecord(intents, from: 1, opener, login: login) else { continue }
                journals.intents.append((login, record))
            }
        }
        let backups = try tables.cursor(.backups)
        defer { backups.reset() }
        backups.bind(1, .min)
        backups.bind(2, .max)
        while try backups.step() {
            if let record = try? BackupRecord(backups, opener) { journals.backups.append(record) }
        }
        journals.observers = try observers()
        return journals
    }

    private func write(_ journals: Journals) throws(StoreError) {
        let update = try tables.cursor(.guardIntent)
        for (login, record) in journals.intents {
            update.bind(1, record.fence)
            update.bind(2, record.mac(context.vaultID, rows.keyring, login: login))
            try update.run()
        }
        for backup in journals.backups { try put(backup) }
        for observer in journals.observers { try put(observer) }
    }
}

/// The rows that prunings of the trail kept, with their marks under another key.
package struct KeptMarks: Sendable {
    let last: AuditTrail.LastPruning?
    /// The pruning to record for them.
    let pruning: TrailPruning

    /// Call this in one snapshot.
    init(_ opener: RowOpener, under new: SealingKey) throws(StoreError) {
        last = try AuditTrail(opener).lastPruning()
        var pruning = last?.pruning ?? .none
        pruning.removed = 0
        pruning.damaged = 0
        let former = opener.keyring.auditKey(ofRow: last?.sequence ?? 0)
        let vault = opener.context.vaultID
        var (formerMarks, newMarks) = (AuditMAC.genesis, AuditMAC.genesis)
        let rows = try opener.tables.cursor(.linksThrough)
        defer { rows.reset() }
        rows.bind(1, pruning.through)
        while try rows.step() {
            let (sequence, link) = (rows.integer(0), unsafe AuditMAC(rows.blob(1)) ?? .genesis)
            formerMarks = formerMarks ^ TrailPruning.mark(of: sequence, link, vault, under: former)
            newMarks = newMarks ^ TrailPruning.mark(of: sequence, link, vault, under: new)
        }
        // Changed rows stay detectable: a mismatch in the former marks is also in the new ones.
        pruning.keptMarks = pruning.keptMarks ^ formerMarks ^ newMarks
        self.pruning = pruning
    }
}

extension Reader {
    package func auditKeyStatus() throws(StoreError) -> AuditKeyStatus {
        let keyring = try opener.vaultRow().keyring
        return AuditKeyStatus(
            madeAt: keyring.auditMadeAt.map { Timestamp(milliseconds: $0) }, formerKeys: keyring.formerAuditKeys.count)
    }

    package func keptMarks(under new: SealingKey) throws(StoreError) -> KeptMarks {
        try tables.longReading { () throws(StoreError) in
            try withSnapshot { () throws(StoreError) in try KeptMarks(opener, under: new) }
        }
    }
}

extension Query {
    fileprivate static let rowBetween = select(
        Table.audit.columns("sequence"), from: .audit,
        where: [.greater(Table.audit["sequence"], 1), .atMost(Table.audit["sequence"], 2)], mostRows: 1)

    fileprivate static let linksThrough = select(
        Table.audit.columns("sequence", "mac"), from: .audit, where: [.atMost(Table.audit["sequence"], 1)])

    fileprivate static let guardIntent = update(
        .refreshIntent, "mac", first: 2, where: [.equal(Table.refreshIntent["fence"], 1)])
}
