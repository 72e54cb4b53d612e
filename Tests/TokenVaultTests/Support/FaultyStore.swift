import Synchronization
import VaultCrypto
import VaultStorage

/// A store whose next commits of logins fail as told, with a spool of its own; everything else passes through.
final class FaultyStore: VaultStore {
    enum Fault: Sendable {
        /// Nothing was written.
        case before
        /// It was written, and reported as failed.
        case after
        /// Nothing is written any more: others take this process for dead.
        case lost
    }

    private struct State {
        var skip = 0
        var faults: [Fault] = []
        var failed = 0
        var spoolFails = false
        var hasLostItsLock = false
        var commits = 0
        var afterCommit: (@Sendable (Int) async -> Void)?
        var beforeUpdate: (@Sendable () async -> Void)?
        var beforeStatistics: (@Sendable () -> Void)?
        var looks = 0
        var beforeSending: (@Sendable (Int) -> Void)?
        var beforeReading: (@Sendable () -> Void)?
    }

    private let base: any VaultStore
    /// Nil: the real one.
    private let files: MemorySpool?
    private let state = Mutex(State())

    init(_ base: any VaultStore, spool files: MemorySpool? = MemorySpool()) {
        self.base = base
        self.files = files
    }

    /// Whether the spool fails as well.
    var spoolFails: Bool {
        get { state.withLock { $0.spoolFails } }
        set { state.withLock { $0.spoolFails = newValue } }
    }

    /// As after a host's `closefrom()`.
    func loseLock() { state.withLock { $0.hasLostItsLock = true } }

    /// Runs between a commit of a login and what the renewal does next, with the commit's number from 1 on.
    func afterCommit(_ action: (@Sendable (Int) async -> Void)?) {
        state.withLock { state in
            state.commits = 0
            state.afterCommit = action
        }
    }

    /// Runs before each change of a login.
    func beforeUpdate(_ action: (@Sendable () async -> Void)?) {
        state.withLock { $0.beforeUpdate = action }
    }

    /// Runs before everything is counted.
    func beforeStatistics(_ action: (@Sendable () -> Void)?) {
        state.withLock { $0.beforeStatistics = action }
    }

    /// Runs while a renewal of this process looks at its login for the last time before it sends; with the number of the look
    /// from 1 on.
    func beforeSending(_ action: (@Sendable (Int) -> Void)?) {
        state.withLock { state in
            state.looks = 0
            state.beforeSending = action
        }
    }

    /// Runs before a login or a part of the audit trail is read.
    func beforeReading(_ action: (@Sendable () -> Void)?) {
        state.withLock { $0.beforeReading = action }
    }

    private func committed() async {
        let (commit, action) = state.withLock { state in
            state.commits += 1
            return (state.commits, state.afterCommit)
        }
        await action?(commit)
    }

    /// Lets so many commits pass, then fails the next ones.
    func fail(_ faults: [Fault], afterCommits skip: Int) {
        state.withLock { state in
            state.skip = skip
            state.faults = faults
            state.failed = 0
        }
    }

    var failedCommits: Int { state.withLock { $0.failed } }

    private func nextFault() -> Fault? {
        state.withLock { state in
            if state.skip > 0 {
                state.skip -= 1
                return nil
            }
            guard !state.faults.isEmpty else { return nil }
            state.failed += 1
            return state.faults.removeFirst()
        }
    }

    func updateLogin<R: Sendable>(
        _ handle: LoginHandle, _ body: @escaping @Sendable (inout LoginState) throws -> R
    ) async throws -> R {
        await state.withLock({ $0.beforeUpdate })?()
        switch nextFault() {
        case .before:
            throw StoreError(.full, "the disk is full")
        case .lost:
            throw StoreError(.ownershipLost, "the lock is gone")
        case .after:
            _ = try await base.updateLogin(handle, body)
            throw StoreError(.io(1), "the commit is not known to be durable")
        case nil:
            let result = try await base.updateLogin(handle, body)
            await committed()
            return result
        }
    }

    func insertLogin(_ draft: LoginDraft) async throws -> StoredLogin {
        if nextFault() != nil { throw StoreError(.full, "the disk is full") }
        return try await base.insertLogin(draft)
    }
}

extension FaultyStore {
    func session(_ selector: LoginSelector) throws(StoreError) -> SessionSnapshot { try base.session(selector) }
    func login(_ handle: LoginHandle) throws(StoreError) -> StoredLogin {
        state.withLock({ $0.beforeReading })?()
        let stored = try base.login(handle)
        guard let intent = stored.intent, intent.owner == owner, intent.tries > 0 else { return stored }
        let (look, action) = state.withLock { state in
            state.looks += 1
            return (state.looks, state.beforeSending)
        }
        action?(look)
        return stored
    }
    func logins(ofUser userID: String?, after: LoginHandle?, limit: Int) throws(StoreError) -> [LoginListing] {
        try base.logins(ofUser: userID, after: after, limit: limit)
    }
    func dueLogins(before time: Timestamp, after cursor: DueCursor?, limit: Int) throws(StoreError) -> DuePage {
        try base.dueLogins(before: time, after: cursor, limit: limit)
    }
    func user(_ id: String) throws(StoreError) -> StoredUser { try base.user(id) }
    func users(after: UserHandle?, limit: Int) throws(StoreError) -> [UserListing] {
        try base.users(after: after, limit: limit)
    }
    func providers(after sequence: Int64?, limit: Int) throws(StoreError) -> [ProviderListing] {
        try base.providers(after: sequence, limit: limit)
    }

    func providers(ofUser userID: String) throws(StoreError) -> Set<ProviderHandle> {
        try base.providers(ofUser: userID)
    }

    func damagedRows(limit: Int) throws(StoreError) -> [DamagedRow] { try base.damagedRows(limit: limit) }

    func damagedRow(_ name: DamagedRowName) throws(StoreError) -> DamagedRowContent { try base.damagedRow(name) }

    func putProvider(
        _ record: ProviderRecord, replacingDamaged name: DamagedRowName
    ) async throws -> StoredProvider {
        try await base.putProvider(record, replacingDamaged: name)
    }

    func discardDamagedRow(_ name: DamagedRowName) async throws -> DiscardedRow {
        try await base.discardDamagedRow(name)
    }

    func discardDamagedUser(_ id: String) async throws -> DiscardedRow { try await base.discardDamagedUser(id) }
    func provider(_ handle: ProviderHandle) throws(StoreError) -> StoredProvider { try base.provider(handle) }
    func provider(named name: String) throws(StoreError) -> StoredProvider { try base.provider(named: name) }
    func auditEntries(after sequence: Int64, limit: Int) throws(StoreError) -> [AuditEntry] {
        state.withLock({ $0.beforeReading })?()
        return try base.auditEntries(after: sequence, limit: limit)
    }
    func lastRenewal(
        at provider: ProviderHandle, otherThan login: LoginHandle, since: Timestamp
    ) throws(StoreError) -> Timestamp? {
        try base.lastRenewal(at: provider, otherThan: login, since: since)
    }
    func untoldFailures(limit: Int) throws(StoreError) -> [LoginHandle] { try base.untoldFailures(limit: limit) }
    func auditHead() throws(StoreError) -> Int64 { try base.auditHead() }
    func userID(of handle: UserHandle) throws(StoreError) -> String { try base.userID(of: handle) }
    var changes: ChangeSignal { base.changes }
    func dueOutboxEntries(at time: Timestamp, limit: Int) throws(StoreError) -> [StoredOutboxEntry] {
        try base.dueOutboxEntries(at: time, limit: limit)
    }
    func outbox(after sequence: Int64?, limit: Int) throws(StoreError) -> [OutboxListing] {
        try base.outbox(after: sequence, limit: limit)
    }
    func outboxEntry(_ handle: OutboxHandle) throws(StoreError) -> StoredOutboxEntry { try base.outboxEntry(handle) }
    func openIntents(after fence: Int64?, limit: Int) throws(StoreError) -> IntentPage {
        try base.openIntents(after: fence, limit: limit)
    }
    func hasOpenIntents() throws(StoreError) -> Bool { try base.hasOpenIntents() }
    func spoolDepth() throws(StoreError) -> SpoolDepth { try base.spoolDepth() }
    func prepareSpool(for count: Int) throws(StoreError) { if files == nil { try base.prepareSpool(for: count) } }
    func spool(_ reply: SpooledReply) throws(StoreError) -> SpoolHandle {
        guard !spoolFails else { throw StoreError(.full, "the disk of the spool is full too") }
        guard let files else { return try base.spool(reply) }
        return files.add(reply, owner: owner)
    }
    func unspool(_ handle: SpoolHandle) throws(StoreError) {
        guard let files else { return try base.unspool(handle) }
        files.remove(handle)
    }
    func spooledReplies() throws(StoreError) -> [SpoolListing] {
        guard let files else { return try base.spooledReplies() }
        return files.entries.filter { $0.owner == owner || !isOwnerAlive($0.owner) }
    }
    func keySlots() throws(StoreError) -> [StoredKeySlot] { try base.keySlots() }
    var openingKeySlot: KeySlotHandle { base.openingKeySlot }
    func statistics() throws(StoreError) -> StoreStatistics {
        state.withLock({ $0.beforeStatistics })?()
        return try base.statistics()
    }
    func depths() throws(StoreError) -> StoreDepths { try base.depths() }
    func verify(_ progress: (VerificationProgress) -> Void) throws(StoreError) -> VerificationReport {
        try base.verify(progress)
    }
    func updateUser<R: Sendable>(
        _ id: String, _ body: @escaping @Sendable (inout UserState) throws -> R
    ) async throws -> R {
        try await base.updateUser(id, body)
    }
    func putProvider(_ record: ProviderRecord, replacing handle: ProviderHandle?) async throws -> StoredProvider {
        try await base.putProvider(record, replacing: handle)
    }
    func updateProvider(
        _ handle: ProviderHandle,
        _ body: @escaping @Sendable (inout ProviderRecord, ProviderUse) throws -> [AuditEvent.Detail]
    ) async throws -> StoredProvider {
        try await base.updateProvider(handle, body)
    }
    func removeProvider(_ handle: ProviderHandle) async throws { try await base.removeProvider(handle) }
    func putAuthorizationRequest(_ record: AuthorizationRequestRecord) async throws {
        try await base.putAuthorizationRequest(record)
    }
    func takeAuthorizationRequest(_ proof: CallbackProof) async throws -> AuthorizationRequestRecord {
        try await base.takeAuthorizationRequest(proof)
    }
    func addOutbox(_ records: [OutboxRecord]) async throws { try await base.addOutbox(records) }
    func resolveOutbox(_ handle: OutboxHandle, _ resolution: OutboxResolution) async throws {
        try await base.resolveOutbox(handle, resolution)
    }
    func unusableReplies(of login: LoginHandle) throws(StoreError) -> [UnusableReplyListing] {
        try base.unusableReplies(of: login)
    }
    func keepUnusableReply(_ record: UnusableReplyRecord) async throws { try await base.keepUnusableReply(record) }
    func forgetUnusableReplies(before time: Timestamp) async throws {
        try await base.forgetUnusableReplies(before: time)
    }
    func addKeySlot(_ maker: any SlotMaker, label: String) async throws -> StoredKeySlot {
        try await base.addKeySlot(maker, label: label)
    }
    func removeKeySlot(_ handle: KeySlotHandle, provenBy unlocker: (any SlotUnlocker)?) async throws {
        try await base.removeKeySlot(handle, provenBy: unlocker)
    }
    var owner: Int64 { base.owner }
    func isOwnerAlive(_ owner: Int64) -> Bool { base.isOwnerAlive(owner) }
    var ownsItsLock: Bool { !state.withLock { $0.hasLostItsLock } && base.ownsItsLock }
    func close() { base.close() }
}

/// The spool of a vault whose processes are stores in one process.
final class MemorySpool: Sendable {
    private let state = Mutex<[SpoolListing]>([])

    var entries: [SpoolListing] { state.withLock { $0 } }

    func add(_ reply: SpooledReply, owner: Int64) -> SpoolHandle {
        let handle = SpoolHandle(owner: owner, entry: SecureRandom.bytes16())
        state.withLock { $0.append(SpoolListing(owner: owner, handle: handle, reply: reply, damage: nil)) }
        return handle
    }

    func remove(_ handle: SpoolHandle) {
        state.withLock { $0.removeAll { $0.handle == handle } }
    }

    /// The owners of all entries have died: nobody holds the locks that they name.
    func orphanAll() {
        state.withLock { entries in
            entries = entries.map { entry in
                SpoolListing(
                    owner: 0, handle: entry.handle, reply: entry.reply, damage: entry.damage)
            }
        }
    }
}
