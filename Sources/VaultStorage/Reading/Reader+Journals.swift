import VaultCrypto

extension Reader {
    package var providers: ProviderRows { ProviderRows(tables: tables, opener: opener) }

    // A provider's row must match its entry in the vault's row.

    func providers(after sequence: Int64?, limit: Int) throws(StoreError) -> [ProviderListing] {
        try consistently { () throws(StoreError) in try providers.listings(after: sequence, limit: limit) }
    }

    func provider(_ handle: ProviderHandle) throws(StoreError) -> StoredProvider {
        try consistently { () throws(StoreError) in try providers.provider(handle) }
    }

    func provider(named name: String) throws(StoreError) -> StoredProvider {
        try consistently { () throws(StoreError) in try providers.provider(named: name) }
    }

    package func use(of handle: ProviderHandle) throws(StoreError) -> ProviderUse {
        let count = try tables.cursor(.refreshableLoginsOfProvider)
        return try count.withBinding(1, handle.bytes) { () throws(StoreError) in
            ProviderUse(refreshableLogins: try count.step() ? Int(count.integer(0)) : 0)
        }
    }

    /// Skips a row that cannot be opened and does not count it: ``outbox(after:limit:)`` shows it.
    package func dueOutboxEntries(at time: Timestamp, limit: Int) throws(StoreError) -> [StoredOutboxEntry] {
        let row = try tables.cursor(.dueOutbox)
        let limit = limit.asPageLimit
        return try consistently { () throws(StoreError) in
            try row.withBinding(1, time.milliseconds) { () throws(StoreError) in
                var result: [StoredOutboxEntry] = []
                while result.count < limit, try row.step() {
                    do throws(StoreError) { result.append(try opener.outboxEntry(row)) } catch { opener.noteTear() }
                }
                return result
            }
        }
    }

    /// Lists in the order of the rows, which is the order of arrival, so that no edited time hides a row.
    package func outbox(after sequence: Int64?, limit: Int) throws(StoreError) -> [OutboxListing] {
        let row = try tables.cursor(.outbox)
        // An edited row may have any number.
        if sequence == .max { return [] }
        row.bind(2, Int64(limit.asPageLimit))
        return try consistently { () throws(StoreError) in
            try row.withBinding(1, sequence.map { $0 + 1 } ?? .min) { () throws(StoreError) in
                var result: [OutboxListing] = []
                while try row.step() { result.append(listing(row)) }
                return result
            }
        }
    }

    private func listing(_ row: any RowCursor) -> OutboxListing {
        var entry: StoredOutboxEntry?
        var damage: StoreError?
        do throws(StoreError) { entry = try opener.outboxEntry(row) } catch {
            opener.noteTear()
            damage = error
        }
        return OutboxListing(
            sequence: row.integer(4), handle: row.bytes16(0).map { OutboxHandle($0) }, entry: entry, damage: damage)
    }

    package func outboxEntry(_ handle: OutboxHandle) throws(StoreError) -> StoredOutboxEntry {
        let row = try tables.cursor(.outboxEntry)
        return try consistently { () throws(StoreError) in
            try row.withBinding(1, handle.bytes) { () throws(StoreError) in
                guard try row.step() else { throw StoreError.notFound(.outboxEntry) }
                return try opener.outboxEntry(row)
            }
        }
    }

    package func auditEntries(after sequence: Int64, limit: Int) throws(StoreError) -> [AuditEntry] {
        let row = try tables.cursor(.auditRows)
        row.bind(2, Int64(limit.asPageLimit))
        return try consistently { () throws(StoreError) in
            try row.withBinding(1, sequence) { () throws(StoreError) in
                var result: [AuditEntry] = []
                while try row.step() { result.append(auditEntry(row)) }
                // A row planted behind the end is never reported.
                let end = result.isEmpty ? 0 : try AuditTrail(opener).end().position.sequence
                return result.filter { $0.sequence <= end }
            }
        }
    }

    /// The number of the trail's last row. Throws if it is lower than one that this process had read or committed when
    /// the reading began.
    package func auditHead() throws(StoreError) -> Int64 {
        let known = headKnownAtBegin ?? context.seen.auditHead
        let head = try AuditTrail(opener).end().position.sequence
        guard head >= known else {
            opener.reading.mark = known
            throw StoreError(
                .rollbackSuspected, "the audit trail ends before what this process has already seen of it",
                hint: "find out who replaced the file; nothing is written to it")
        }
        context.seen.noteAuditHead(head)
        return head
    }

    /// The number of rows of the trail to search: some hours in a busy vault, and all relevant rows in any other.
    private static let renewalWindow: Int64 = 100_000

    package func lastRenewal(
        at provider: ProviderHandle, otherThan login: LoginHandle, since: Timestamp
    ) throws(StoreError) -> Timestamp? {
        let first = try auditHead() - Self.renewalWindow
        let row = try tables.cursor(.lastRenewal)
        defer { row.reset() }
        row.bind(1, AuditKind.renewed.rawValue)
        row.bind(2, first)
        row.bind(3, since.milliseconds)
        row.bind(4, provider.bytes)
        row.bind(5, login.bytes)
        return try row.step() ? Timestamp(milliseconds: row.integer(0)) : nil
    }

    private func auditEntry(_ row: any RowCursor) -> AuditEntry {
        let columns = AuditColumns(row)
        var detail = AuditDetail()
        var damage: StoreError?
        do throws(StoreError) { detail = try opener.auditDetail(row, columns) } catch {
            opener.noteTear()
            damage = error
        }
        return AuditEntry(columns, detail, link: unsafe AuditMAC(row.blob(8)), damage)
    }

    /// Skips an intent that cannot be opened, but counts its row for the page.
    package func openIntents(after fence: Int64?, limit: Int) throws(StoreError) -> IntentPage {
        let limit = limit.asPageLimit
        let row = try tables.cursor(.openIntents)
        row.bind(2, Int64(limit))
        return try consistently { () throws(StoreError) in
            try row.withBinding(1, fence ?? .min) { () throws(StoreError) in
                var page = IntentPage()
                var rows = 0
                while try row.step() {
                    rows += 1
                    page.next = row.integer(1)
                    if let intent = storedIntent(row) { page.intents.append(intent) }
                }
                if rows < limit { page.next = nil }
                return page
            }
        }
    }

    private func storedIntent(_ row: any RowCursor) -> StoredIntent? {
        guard let login = row.bytes16(0).map({ LoginHandle($0) }) else { return nil }
        do throws(StoreError) {
            guard let record = try IntentRecord(row, from: 1, opener, login: login) else { return nil }
            return StoredIntent(login: login, record: record)
        } catch {
            opener.noteTear()
            return nil
        }
    }

    package func hasOpenIntents() throws(StoreError) -> Bool { try tables.has(.anyIntent) }

    package func keySlots() throws(StoreError) -> [StoredKeySlot] {
        // A slot is shown together with its entry in the vault's row.
        try withSnapshot { () throws(StoreError) in
            let manifest = try opener.vaultRow().manifest
            return try KeySlotRows.all(tables).slots.map { StoredKeySlot($0.description, manifest) }
        }
    }
}

extension RowOpener {
    func provider(_ row: any RowCursor) throws(StoreError) -> StoredProvider {
        let revision = row.integer(1)
        guard let bytes = row.bytes16(0) else {
            throw .quarantined("provider", nil, "its handle has the wrong type or length")
        }
        let handle = ProviderHandle(bytes)
        let record = try unsafe root(
            row.blob(2), .provider, table: "provider", handle: bytes,
            ProviderRecord.associatedData(context.vaultID, handle, revision: revision)
        ) { bytes throws(VaultCryptoError) in try unsafe ProviderRecord(bytes) }
        try require(provider: bytes, try unsafe tag(row.blob(2), "provider", bytes))
        let index = row.bytes16(3)
        let isItsOwn = try index.map { index throws(StoreError) in
            try isIndex(index) { $0.blindIndexes(ofProviderName: record.name) }
        }
        guard isItsOwn ?? row.isNull(3) else {
            throw .quarantined("provider", bytes, "its index does not belong to the name in its cell")
        }
        return StoredProvider(handle: handle, revision: revision, record: record)
    }

    func outboxEntry(_ row: any RowCursor) throws(StoreError) -> StoredOutboxEntry {
        guard let bytes = row.bytes16(0) else {
            throw .quarantined("outbox", nil, "its handle has the wrong type or length")
        }
        let handle = OutboxHandle(bytes)
        let next = Timestamp(milliseconds: row.integer(1))
        let attempts = row.integer(2)
        let record = try unsafe root(
            row.blob(3), .outbox, table: "outbox", handle: bytes,
            OutboxRecord.associatedData(context.vaultID, handle, nextAttemptAt: next, attempts: attempts)
        ) { bytes throws(VaultCryptoError) in try unsafe OutboxRecord(bytes, handle: handle) }
        return StoredOutboxEntry(handle: handle, nextAttemptAt: next, attempts: Int(attempts), record: record)
    }

    func authorizationRequest(_ row: any RowCursor) throws(StoreError) -> AuthorizationRequestRecord {
        guard let bytes = row.bytes16(0) else {
            throw .quarantined("authorizationRequest", nil, "its index has the wrong type or length")
        }
        let expiresAt = Timestamp(milliseconds: row.integer(1))
        return try unsafe root(
            row.blob(2), .authorizationRequest, table: "authorizationRequest", handle: bytes,
            AuthorizationRequestRecord.associatedData(context.vaultID, BlindIndex(bytes), expiresAt: expiresAt)
        ) { bytes throws(VaultCryptoError) in
            try unsafe AuthorizationRequestRecord(bytes, expiresAt: expiresAt)
        }
    }

    private func tag(
        _ cell: UnsafeRawBufferPointer, _ table: String, _ handle: Bytes16
    ) throws(StoreError) -> CellTag {
        do throws(VaultCryptoError) { return try unsafe SealedCell.tag(of: cell) } catch {
            throw .quarantined(table, handle, error)
        }
    }

    /// Column 7 of a row that starts with the audit columns.
    func auditDetail(_ row: any RowCursor, _ columns: AuditColumns) throws(StoreError) -> AuditDetail {
        let known = keyring
        do throws(StoreError) { return try AuditDetail(row, columns, context.vaultID, known, scratch) } catch {
            // Another process may have replaced the key.
            guard let newest = try? vaultRow().keyring, newest !== known else { throw error }
            return try AuditDetail(row, columns, context.vaultID, newest, scratch)
        }
    }
}

extension AuditEntry {
    init(_ columns: AuditColumns, _ detail: AuditDetail, link: AuditMAC?, _ damage: StoreError?) {
        self.init(
            sequence: columns.sequence, time: columns.time, kind: columns.kind, user: columns.user,
            login: columns.login, provider: columns.provider, loginProvider: detail.provider,
            revision: columns.revision, detail: detail.texts, look: detail.look, facts: detail.facts,
            pruning: detail.pruning, actor: detail.actor, link: link, damage: damage)
    }
}

extension AuditDetail {
    /// Opens column 7 of a row that starts with the audit columns.
    init(
        _ row: any RowCursor, _ columns: AuditColumns, _ vault: Bytes16, _ keyring: Keyring, _ scratch: CellScratch
    ) throws(StoreError) {
        self.init()
        if row.isNull(7) { return }
        do throws(VaultCryptoError) {
            let opened = try unsafe SealedCell.Opened(
                row.blob(7), kind: .auditDetail, key: keyring.auditKey(ofRow: columns.sequence),
                associatedData: columns.detailData(vault), scratch: scratch)
            defer { opened.wipe(scratch) }
            self = try unsafe AuditDetail(opened.plaintext)
        } catch {
            throw .quarantined("audit", nil, error)
        }
    }
}

extension AuditColumns {
    /// Reads columns 0 to 6.
    init(_ row: any RowCursor) {
        isMalformed = (3...5).contains { !row.isNull($0) && row.bytes16($0) == nil }
        sequence = row.integer(0)
        time = Timestamp(milliseconds: row.integer(1))
        kind = AuditKind(rawValue: row.integer(2))
        user = row.bytes16(3).map { UserHandle($0) }
        login = row.bytes16(4).map { LoginHandle($0) }
        provider = row.bytes16(5).map { ProviderHandle($0) }
        revision = row.optionalInteger(6)
    }
}

extension Query {
    static let anyIntent = select(Table.refreshIntent.columns("fence"), from: .refreshIntent, mostRows: 1)

    // Reads from the end of the trail: where logins are renewed at all, one of the last rows is such a row.
    fileprivate static let lastRenewal = select(
        Table.audit.columns("time"), from: .audit, joins: [.each(Table.login["handle"], is: Table.audit["login"])],
        where: [
            .equal(Table.audit["kind"], 1), .greater(Table.audit["sequence"], 2), .greater(Table.audit["time"], 3),
            .equal(Table.login["provider"], 4), .notEqual(Table.login["handle"], 5),
        ], order: [.down(Table.audit["sequence"])], mostRows: 1)
}
