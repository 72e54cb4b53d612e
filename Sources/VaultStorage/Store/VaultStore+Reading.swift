import VaultCrypto

extension VaultStore {
    // MARK: Users and logins

    /// The hot read. With ``LoginSelector/user(_:)``, terminated logins are candidates only if all are terminated.
    ///
    /// - Parameter withKey: Reads the login's private key, too, unless the user has several logins and none is named.
    package func session(
        _ selector: LoginSelector, withKey: Bool = false
    ) async throws(StoreError) -> SessionSnapshot {
        switch selector {
        case .user(let id):
            let query = withKey ? Query.sessionsAndKeysOfUser : .sessionsOfUser
            return try await read(ofUser: id, first: query) { reader, index throws(StoreError) in
                try reader.session(ofUser: index, withKey: withKey)
            }
        case .login(let handle, let prefix):
            let query = withKey ? Query.sessionAndKeyOfLogin : .sessionOfLogin
            return try await read(.rows(query, handle.bytes)) { reader throws(StoreError) in
                try reader.session(ofLogin: handle, ofUsers: prefix, withKey: withKey)
            }
        }
    }

    /// The only living login of a user at a provider; nil if there is not exactly one, or if it cannot be opened.
    package func session(
        ofUser userId: String, at provider: ProviderHandle, withKey: Bool = false
    ) async throws(StoreError) -> SessionSnapshot? {
        let query = withKey ? Query.sessionsAndKeysOfUserAtProvider : .sessionsOfUserAtProvider
        return try await read(ofUser: userId, first: query, provider.bytes) { reader, index throws(StoreError) in
            do throws(StoreError) { return try reader.session(ofUser: index, at: provider, withKey: withKey) } catch {
                guard error.isOfRow else { throw error }
                return nil
            }
        }
    }

    package func login(_ handle: LoginHandle) async throws(StoreError) -> StoredLogin {
        try await read(.rows(.login, handle.bytes)) { reader throws(StoreError) in try reader.login(handle) }
    }

    /// The logins of a user, or of all users if nil, in the order of their handles. A damaged row is listed as such.
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

    /// Logins that are due at this time, the longest overdue first; see ``LoginState/dueAt``. Reads only the index and
    /// plaintext columns: they are authenticated when the login itself is read.
    ///
    /// - Parameter cursor: ``DuePage/cursor`` of the previous page; nil for the first.
    package func dueLogins(
        before time: Timestamp, after cursor: DueCursor? = nil, limit: Int
    ) async throws(StoreError) -> DuePage {
        try await read { reader throws(StoreError) in
            try reader.dueLogins(before: time, after: cursor, limit: limit)
        }
    }

    /// Logins with a failure that no handler was notified of, see ``SessionRecord/notifiedFailure``. Their sessions
    /// decide.
    package func unreportedFailures(limit: Int) async throws(StoreError) -> [LoginHandle] {
        try await read { reader throws(StoreError) in try reader.unreportedFailures(limit: limit) }
    }

    package func user(_ id: String) async throws(StoreError) -> StoredUser {
        try await read(ofUser: id, first: .userByIndex) { reader, index throws(StoreError) in try reader.user(index) }
    }

    package func users(after: UserHandle?, limit: Int) async throws(StoreError) -> [UserListing] {
        try await read { reader throws(StoreError) in try reader.users(after: after, limit: limit) }
    }

    /// The id of the user with this handle: audit rows name users by their handles.
    package func userId(of handle: UserHandle) async throws(StoreError) -> String {
        try await read { reader throws(StoreError) in try reader.userId(of: handle) }
    }

    /// Looks up a user by the index of the user id. A user that is not found may exist under another index key.
    @inline(__always)
    private func read<R>(
        ofUser id: String, first: Query?, _ parameter: Bytes16? = nil,
        _ body: (Reader, BlindIndex) throws(StoreError) -> R
    ) async throws(StoreError) -> R {
        let keyring = context.keyring
        let index = keyring.blindIndex(ofUserId: id)
        let prefetchHint = first.map { PrefetchHint.rows($0, index.bytes, parameter) } ?? .nothing
        return try await read(prefetchHint) { reader throws(StoreError) in
            do throws(StoreError) { return try body(reader, index) } catch {
                guard error.code == .notFound(.user) else { throw error }
                return try reader.checkAgain(forUser: id, knownBy: keyring, body)
            }
        }
    }

    // MARK: Providers

    /// Providers in the order of their creation. A page begins after ``ProviderListing/sequence`` of the previous one;
    /// pass nil for the first. A damaged row is listed as such.
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

    /// A provider, if it may have changed since an earlier call; nil: it is the same.
    ///
    /// - Parameter mark: What the earlier call returned with it.
    package func provider(
        _ handle: ProviderHandle, changedSince mark: Int64?
    ) async throws(StoreError) -> (provider: StoredProvider, mark: Int64?)? {
        try await read { reader throws(StoreError) in
            let newest = try reader.tables.markOfSettings()
            if let newest, newest == mark { return nil }
            return (try reader.provider(handle), newest)
        }
    }

    package func hasLogins(of provider: ProviderHandle) async throws(StoreError) -> Bool {
        try await read { reader throws(StoreError) in try reader.tables.hasLogins(of: provider) }
    }

    /// Finds a provider by a keyed hash of its name, without opening any other provider.
    package func provider(named name: String) async throws(StoreError) -> StoredProvider {
        try await read { reader throws(StoreError) in try reader.provider(named: name) }
    }

    /// The providers of the user's logins, damaged logins included. They are not authenticated: use them to prefetch.
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

    /// A checked page of the trail; see ``Reader/audit(_:_:limit:)``.
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

    /// The first row after the last pruning, and the row that comes a number of rows later, if they exist. Reads only
    /// plaintext columns: further processing of the rows checks them.
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

    /// When another login of this provider was last renewed, if that was after this time. Reads only plaintext columns
    /// of the latest rows of the trail.
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

    /// What the trail says about replies of these providers, the newest first.
    package func replyEntries(of providers: Set<ProviderHandle>) async throws -> [ProviderHandle: [AuditEntry]] {
        try await survey { reader in
            try reader.withSnapshot { () throws(StoreError) in
                try ReplyRows(tables: reader.tables, opener: reader.opener).entries(
                    of: providers, head: try reader.auditHead())
            }
        }
    }

    /// The rows about a provider that its replies are compared with.
    package func history(of provider: ProviderHandle) async throws(StoreError) -> ProviderHistory {
        try await read { reader throws(StoreError) in
            try reader.consistently { () throws(StoreError) in
                try ReplyRows(tables: reader.tables, opener: reader.opener).history(of: provider)
            }
        }
    }

    // MARK: Journals

    /// Entries that are due, the longest overdue first. Skips damaged ones.
    package func dueOutboxEntries(at time: Timestamp, limit: Int) async throws(StoreError) -> [StoredOutboxEntry] {
        try await read { reader throws(StoreError) in try reader.dueOutboxEntries(at: time, limit: limit) }
    }

    /// All entries, in the order of their arrival. A page begins after ``OutboxListing/sequence`` of the previous one;
    /// pass nil for the first. A damaged row is listed as such.
    package func outbox(after sequence: Int64?, limit: Int) async throws(StoreError) -> [OutboxListing] {
        try await read { reader throws(StoreError) in try reader.outbox(after: sequence, limit: limit) }
    }

    package func outboxEntry(_ handle: OutboxHandle) async throws(StoreError) -> StoredOutboxEntry {
        try await read { reader throws(StoreError) in try reader.outboxEntry(handle) }
    }

    /// A login's unusable replies, in the order of their arrival; empty if there is no such login.
    package func unusableReplies(of login: LoginHandle) async throws(StoreError) -> [UnusableReplyListing] {
        try await read { reader throws(StoreError) in try reader.unusableReplies(of: login) }
    }

    /// Open intents, in the order in which they were begun. Skips damaged ones: reading the login itself reports them.
    ///
    /// - Parameter fence: ``IntentPage/next`` of the previous page; nil for the first.
    package func openIntents(after fence: Int64?, limit: Int) async throws(StoreError) -> IntentPage {
        try await read { reader throws(StoreError) in try reader.openIntents(after: fence, limit: limit) }
    }

    /// Whether there is any intent, damaged or not.
    package func hasOpenIntents() async throws(StoreError) -> Bool {
        try await read { reader throws(StoreError) in try reader.hasOpenIntents() }
    }

    // MARK: Keys

    package func keySlots() async throws(StoreError) -> [StoredKeySlot] {
        try await read { reader throws(StoreError) in try reader.keySlots() }
    }

    /// The slot with which this process opened the vault.
    package var openingKeySlot: KeySlotHandle { context.openedBy.handle }

    // MARK: The whole vault

    /// The numbers of unsettled items, without counting every row.
    package func depths() async throws(StoreError) -> StoreDepths {
        try await read { reader throws(StoreError) in try reader.depths() }
    }

    /// Statistics of the vault. Takes as long as counting all users and logins.
    package func statistics() async throws -> StoreStatistics {
        let spool = spool
        return try await survey { reader in
            var statistics = try reader.withSnapshot { () throws(StoreError) in try reader.statistics() }
            statistics.spool = try spool.depth()
            return statistics
        }
    }

    /// Rows that cannot be opened, at most `limit`. Checks every row except the audit trail and the rows that must open
    /// before all others.
    package func damagedRows(limit: Int) async throws -> [DamagedRow] {
        try await survey { try $0.damage.all(limit: limit) }
    }

    /// Damage in plaintext data: rows outside of the trail's chain, and the counter of fences.
    package func damageOfCounters(limit: Int) async throws -> [DamagedRow] {
        try await survey { try $0.damage.ofTrailAndCounter(limit: limit) }
    }

    /// The stored content of a damaged row. Throws `notFound` if there is no such row, and `conflict` if it opens.
    package func damagedRow(_ name: DamagedRowName) async throws -> DamagedRowContent {
        try await survey { reader in
            try reader.withSnapshot { () throws(StoreError) in
                let row = try reader.damage.find(name)
                return try reader.damage.content(of: row)
            }
        }
    }

    /// Checks every cell, manifest and audit row. The time grows with the vault; memory is bounded, and writers go ahead.
    package func verify(
        _ progress: @escaping @Sendable (VerificationProgress) -> Void = { _ in }
    ) async throws -> VerificationReport {
        try await survey { try VaultCheck($0.tables, $0.context).run(progress) }
    }

    /// Checks only the trail, and that nothing was rolled back. Otherwise the same.
    package func verifyAudit(
        _ progress: @escaping @Sendable (VerificationProgress) -> Void = { _ in }
    ) async throws -> VerificationReport {
        try await survey { try VaultCheck($0.tables, $0.context).runAudit(progress) }
    }

    /// A preview of a pruning.
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
