import VaultCrypto

extension VaultStore {
    // MARK: Users and logins

    /// The hot read. With ``LoginSelector/user(_:)``, terminated logins are no candidates, unless all are.
    package func session(_ selector: LoginSelector) async throws(StoreError) -> SessionSnapshot {
        switch selector {
        case .user(let id):
            return try await read(ofUser: id, first: .sessionsOfUser) { reader, index throws(StoreError) in
                try reader.session(ofUser: index, nil)
            }
        case .login(let handle):
            return try await read(.rows(.sessionOfLogin, handle.bytes)) { reader throws(StoreError) in
                try reader.session(ofLogin: handle)
            }
        case .userLogin(let id, let handle):
            return try await read(ofUser: id, first: .sessionsOfUser) { reader, index throws(StoreError) in
                try reader.session(ofUser: index, handle)
            }
        }
    }

    /// The only living login of a user at a provider; nil: there is none, or more than one, or it cannot be opened.
    package func session(
        ofUser userId: String, at provider: ProviderHandle
    ) async throws(StoreError) -> SessionSnapshot? {
        try await read(ofUser: userId, first: .sessionsOfUser) { reader, index throws(StoreError) in
            do throws(StoreError) { return try reader.session(ofUser: index, at: provider) } catch {
                guard error.isOfRow else { throw error }
                return nil
            }
        }
    }

    /// The private key to which a login's access token is bound; nil: none.
    package func key(ofLogin handle: LoginHandle) async throws(StoreError) -> KeyRecord? {
        try await read(.rows(.login, handle.bytes)) { reader throws(StoreError) in try reader.key(ofLogin: handle) }
    }

    package func login(_ handle: LoginHandle) async throws(StoreError) -> StoredLogin {
        try await read(.rows(.login, handle.bytes)) { reader throws(StoreError) in try reader.login(handle) }
    }

    /// In the order of their handles. A damaged row is listed as such.
    package func logins(
        ofUser userId: String?, after: LoginHandle?, limit: Int
    ) async throws(StoreError) -> [LoginListing] {
        guard let userId else {
            return try await read { reader throws(StoreError) in try reader.logins(after: after, limit: limit) }
        }
        return try await read(ofUser: userId, first: nil) { reader, index throws(StoreError) in
            try reader.logins(ofUser: index, after: after, limit: limit)
        }
    }

    /// Logins that are due at this time, the longest due first; see ``LoginState/dueAt``. Reads the index and plaintext
    /// columns alone: what they say is authenticated when the login itself is read.
    ///
    /// - Parameter cursor: ``DuePage/cursor`` of the page before; nil for the first.
    package func dueLogins(
        before time: Timestamp, after cursor: DueCursor? = nil, limit: Int
    ) async throws(StoreError) -> DuePage {
        try await read { reader throws(StoreError) in
            try reader.dueLogins(before: time, after: cursor, limit: limit)
        }
    }

    /// Logins with a failure that no handler has heard of, see ``SessionRecord/notifiedFailure``. What their sessions
    /// say decides.
    package func unreportedFailures(limit: Int) async throws(StoreError) -> [LoginHandle] {
        try await read { reader throws(StoreError) in try reader.unreportedFailures(limit: limit) }
    }

    package func user(_ id: String) async throws(StoreError) -> StoredUser {
        try await read(ofUser: id, first: .userByIndex) { reader, index throws(StoreError) in try reader.user(index) }
    }

    package func users(after: UserHandle?, limit: Int) async throws(StoreError) -> [UserListing] {
        try await read { reader throws(StoreError) in try reader.users(after: after, limit: limit) }
    }

    /// Who has this handle: audit rows name users by it.
    package func userId(of handle: UserHandle) async throws(StoreError) -> String {
        try await read { reader throws(StoreError) in try reader.userId(of: handle) }
    }

    /// Reads by the index of a user id. One that is not found may be there under another index key.
    @inline(__always)
    private func read<R>(
        ofUser id: String, first: Query?, _ body: (Reader, BlindIndex) throws(StoreError) -> R
    ) async throws(StoreError) -> R {
        let keyring = context.keyring
        let index = keyring.blindIndex(ofUserId: id)
        let prefetchHint = first.map { PrefetchHint.rows($0, index.bytes) } ?? .nothing
        return try await read(prefetchHint) { reader throws(StoreError) in
            do throws(StoreError) { return try body(reader, index) } catch {
                guard error.code == .notFound(.user) else { throw error }
                return try reader.checkAgain(forUser: id, knownBy: keyring, body)
            }
        }
    }

    // MARK: Providers

    /// In the order in which they came; a page begins after ``ProviderListing/sequence`` of the one before, the first
    /// after nil. A damaged row is listed as such.
    package func providers(after sequence: Int64?, limit: Int) async throws(StoreError) -> [ProviderListing] {
        try await read { reader throws(StoreError) in try reader.providers(after: sequence, limit: limit) }
    }

    package func providers() async throws(StoreError) -> [ProviderListing] {
        let size = 256
        var all: [ProviderListing] = []
        while true {
            let page = try await providers(after: all.last?.sequence, limit: size)
            all += page
            if page.count < size { return all }
        }
    }

    package func provider(_ handle: ProviderHandle) async throws(StoreError) -> StoredProvider {
        try await read { reader throws(StoreError) in try reader.provider(handle) }
    }

    /// By a keyed hash of the name: opens no other provider.
    package func provider(named name: String) async throws(StoreError) -> StoredProvider {
        try await read { reader throws(StoreError) in try reader.provider(named: name) }
    }

    /// Of the user's logins, damaged ones too. Nothing authenticates them: for reading ahead.
    package func providers(ofUser userId: String) async throws(StoreError) -> Set<ProviderHandle> {
        do throws(StoreError) {
            return try await read(ofUser: userId, first: nil) { reader, index throws(StoreError) in
                let providers = try reader.providers(ofUser: index)
                guard !providers.isEmpty else { throw .notFound(.user) }
                return providers
            }
        } catch {
            guard error.code == .notFound(.user) else { throw error }
            return []
        }
    }

    // MARK: The trail

    package func auditEntries(after sequence: Int64, limit: Int) async throws(StoreError) -> [AuditEntry] {
        try await read { reader throws(StoreError) in try reader.auditEntries(after: sequence, limit: limit) }
    }

    /// Some rows of the trail, checked; see ``Reader/audit(_:_:limit:)``.
    package func audit(
        _ filter: AuditFilter, _ direction: AuditDirection, limit: Int
    ) async throws(StoreError) -> AuditPage {
        try await read { reader throws(StoreError) in
            try reader.withSnapshot { () throws(StoreError) in try reader.audit(filter, direction, limit: limit) }
        }
    }

    /// The link of a row of the trail; nil if there is no such row.
    package func auditPosition(_ sequence: Int64) async throws(StoreError) -> AuditPosition? {
        try await read { reader throws(StoreError) in
            try reader.withSnapshot { () throws(StoreError) in try reader.auditPosition(sequence) }
        }
    }

    /// How far the trail was pruned.
    package func trailPruning() async throws(StoreError) -> TrailPruning {
        try await read { reader throws(StoreError) in
            try reader.withSnapshot { () throws(StoreError) in try reader.trailPruning() }
        }
    }

    /// The first row after the last pruning, and the one that comes so many rows later, as far as they are there. Only
    /// plaintext columns: what is done with the rows looks closer.
    package func oldestRows(
        _ distance: Int64
    ) async throws(StoreError) -> (first: AuditEntry?, later: AuditEntry?) {
        try await read { reader throws(StoreError) in
            try reader.withSnapshot { () throws(StoreError) in
                let start = try reader.trailPruning().through
                return (
                    try reader.auditEntries(after: start, limit: 1).first,
                    try reader.auditEntries(after: start &+ distance, limit: 1).first
                )
            }
        }
    }

    /// The number of the last audit row; 0 before the first.
    package func auditHead() async throws(StoreError) -> Int64 {
        try await read { reader throws(StoreError) in try reader.auditHead() }
    }

    /// When another login of this provider was last renewed, if that was after this time. Looks at the latest rows of
    /// the trail alone, by plaintext columns.
    package func lastRenewal(
        at provider: ProviderHandle, otherThan login: LoginHandle, since: Timestamp
    ) async throws(StoreError) -> Timestamp? {
        try await read { reader throws(StoreError) in
            try reader.lastRenewal(at: provider, otherThan: login, since: since)
        }
    }

    /// Whether the provider is stopped, because it has ended too many logins in a row.
    package func endings(of provider: ProviderHandle) async throws(StoreError) -> ProviderEndings {
        try await read { reader throws(StoreError) in
            try reader.consistently { () throws(StoreError) in
                try EndingRows(tables: reader.tables, opener: reader.opener).standing(of: provider).endings
            }
        }
    }

    // MARK: Journals

    /// Those whose time has come, in its order. Damaged ones are passed over.
    package func dueOutboxEntries(at time: Timestamp, limit: Int) async throws(StoreError) -> [StoredOutboxEntry] {
        try await read { reader throws(StoreError) in try reader.dueOutboxEntries(at: time, limit: limit) }
    }

    /// All, in the order in which they came; a page begins after ``OutboxListing/sequence`` of the one before, the
    /// first after nil. A damaged row is listed as such.
    package func outbox(after sequence: Int64?, limit: Int) async throws(StoreError) -> [OutboxListing] {
        try await read { reader throws(StoreError) in try reader.outbox(after: sequence, limit: limit) }
    }

    package func outboxEntry(_ handle: OutboxHandle) async throws(StoreError) -> StoredOutboxEntry {
        try await read { reader throws(StoreError) in try reader.outboxEntry(handle) }
    }

    /// Unusable replies, in the order in which they came; none if there is no such login.
    package func unusableReplies(of login: LoginHandle) async throws(StoreError) -> [UnusableReplyListing] {
        try await read { reader throws(StoreError) in try reader.unusableReplies(of: login) }
    }

    /// Open intents, in the order in which they were begun. Damaged ones are passed over: reading the login itself
    /// reports them.
    ///
    /// - Parameter fence: ``IntentPage/next`` of the page before; nil for the first.
    package func openIntents(after fence: Int64?, limit: Int) async throws(StoreError) -> IntentPage {
        try await read { reader throws(StoreError) in try reader.openIntents(after: fence, limit: limit) }
    }

    /// Whether there is an intent at all, damaged or not.
    package func hasOpenIntents() async throws(StoreError) -> Bool {
        try await read { reader throws(StoreError) in try reader.hasOpenIntents() }
    }

    // MARK: Keys

    package func keySlots() async throws(StoreError) -> [StoredKeySlot] {
        try await read { reader throws(StoreError) in try reader.keySlots() }
    }

    /// The slot by which this process has opened the vault.
    package var openingKeySlot: KeySlotHandle { context.openedBy.handle }

    // MARK: The whole vault

    /// What is open, counted without counting everything.
    package func depths() async throws(StoreError) -> StoreDepths {
        try await read { reader throws(StoreError) in try reader.depths() }
    }

    /// Takes as long as it takes to count users and logins.
    package func statistics() async throws -> StoreStatistics {
        let spool = spool
        return try await survey { reader in
            var statistics = try reader.withSnapshot { () throws(StoreError) in try reader.statistics() }
            statistics.spool = try spool.depth()
            return statistics
        }
    }

    /// Rows that cannot be opened, at most `limit`. Looks at every row there is, but for the audit trail and what has
    /// to open before anything does.
    package func damagedRows(limit: Int) async throws -> [DamagedRow] {
        try await survey { try $0.damage.all(limit: limit) }
    }

    /// Those of them that stand in the clear: rows beside the chain of the trail, and the counter of fences.
    package func damageOfCounters(limit: Int) async throws -> [DamagedRow] {
        try await survey { try $0.damage.ofTrailAndCounter(limit: limit) }
    }

    /// A damaged row as it lies there. Not found if there is none of that name; in conflict if the row opens.
    package func damagedRow(_ name: DamagedRowName) async throws -> DamagedRowContent {
        try await survey { reader in
            try reader.withSnapshot { () throws(StoreError) in
                let row = try reader.damage.find(name)
                return try reader.damage.content(of: row)
            }
        }
    }

    /// Checks every cell, manifest and audit row. Takes as long as the vault is big, in bounded memory; writers go on.
    package func verify(
        _ progress: @escaping @Sendable (VerificationProgress) -> Void = { _ in }
    ) async throws -> VerificationReport {
        try await survey { try VaultCheck($0.tables, $0.context).run(progress) }
    }

    /// Checks the trail alone, and that nothing is in a former state. Otherwise the same.
    package func verifyAudit(
        _ progress: @escaping @Sendable (VerificationProgress) -> Void = { _ in }
    ) async throws -> VerificationReport {
        try await survey { try VaultCheck($0.tables, $0.context).runAudit(progress) }
    }

    /// What a pruning would do.
    package func prunable(_ limits: TrailLimits) async throws -> PrunedRows {
        try await survey { reader in
            var all = PrunedRows()
            var end: AuditPosition?
            repeat {
                let part = try reader.withSnapshot { () throws(StoreError) in
                    try reader.prunable(limits, after: end, size: 1_000)
                }
                all += part.rows
                end = part.end
                if BlockingWork.isCancelled { throw StoreError(.closed, "the search was ended before it was complete") }
            } while all.hasMore
            return all
        }
    }
}
