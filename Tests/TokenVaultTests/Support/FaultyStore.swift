import Synchronization
import VaultCrypto
import VaultStorage

/// A store whose next commits of logins fail as told; everything else passes through.
final class FaultyStore: VaultStore {
    enum Fault: Sendable {
        /// Nothing was written.
        case before
        /// It was written, and reported as failed.
        case after
    }

    private struct State {
        var skip = 0
        var faults: [Fault] = []
        var failed = 0
    }

    private let base: any VaultStore
    private let state = Mutex(State())

    init(_ base: any VaultStore) {
        self.base = base
    }

    /// Lets so many commits pass, then fails the next ones.
    func fail(_ faults: [Fault], afterCommits skip: Int) {
        state.withLock { $0 = State(skip: skip, faults: faults) }
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
        switch nextFault() {
        case .before:
            throw StoreError(.full, "the disk is full")
        case .after:
            _ = try await base.updateLogin(handle, body)
            throw StoreError(.io(1), "the commit is not known to be durable")
        case nil:
            return try await base.updateLogin(handle, body)
        }
    }

    func insertLogin(_ draft: LoginDraft) async throws -> StoredLogin {
        if nextFault() != nil { throw StoreError(.full, "the disk is full") }
        return try await base.insertLogin(draft)
    }
}

extension FaultyStore {
    func session(_ selector: LoginSelector) throws(StoreError) -> SessionSnapshot { try base.session(selector) }
    func login(_ handle: LoginHandle) throws(StoreError) -> StoredLogin { try base.login(handle) }
    func logins(ofUser userID: String?, after: LoginHandle?, limit: Int) throws(StoreError) -> [LoginListing] {
        try base.logins(ofUser: userID, after: after, limit: limit)
    }
    func user(_ id: String) throws(StoreError) -> StoredUser { try base.user(id) }
    func users(after: UserHandle?, limit: Int) throws(StoreError) -> [UserListing] {
        try base.users(after: after, limit: limit)
    }
    func providers() throws(StoreError) -> [StoredProvider] { try base.providers() }
    func provider(_ handle: ProviderHandle) throws(StoreError) -> StoredProvider { try base.provider(handle) }
    func provider(named name: String) throws(StoreError) -> StoredProvider { try base.provider(named: name) }
    func auditEntries(after sequence: Int64, limit: Int) throws(StoreError) -> [AuditEntry] {
        try base.auditEntries(after: sequence, limit: limit)
    }
    func dueOutboxEntries(at time: Timestamp, limit: Int) throws(StoreError) -> [StoredOutboxEntry] {
        try base.dueOutboxEntries(at: time, limit: limit)
    }
    func outbox(after sequence: Int64?, limit: Int) throws(StoreError) -> [OutboxListing] {
        try base.outbox(after: sequence, limit: limit)
    }
    func outboxEntry(_ handle: OutboxHandle) throws(StoreError) -> StoredOutboxEntry { try base.outboxEntry(handle) }
    func openIntents(limit: Int) throws(StoreError) -> [StoredIntent] { try base.openIntents(limit: limit) }
    func prepareSpool() throws(StoreError) { try base.prepareSpool() }
    func spool(_ reply: SpooledReply) throws(StoreError) -> SpoolHandle { try base.spool(reply) }
    func unspool(_ handle: SpoolHandle) throws(StoreError) { try base.unspool(handle) }
    func spooledReplies() throws(StoreError) -> [SpoolListing] { try base.spooledReplies() }
    func keySlots() throws(StoreError) -> [StoredKeySlot] { try base.keySlots() }
    func statistics() throws(StoreError) -> StoreStatistics { try base.statistics() }
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
    func takeAuthorizationRequest(state: SecretBytes) async throws -> AuthorizationRequestRecord {
        try await base.takeAuthorizationRequest(state: state)
    }
    func addOutbox(_ records: [OutboxRecord]) async throws { try await base.addOutbox(records) }
    func resolveOutbox(_ handle: OutboxHandle, _ resolution: OutboxResolution) async throws {
        try await base.resolveOutbox(handle, resolution)
    }
    func addKeySlot(_ maker: any SlotMaker, label: String) async throws -> StoredKeySlot {
        try await base.addKeySlot(maker, label: label)
    }
    func removeKeySlot(_ handle: KeySlotHandle) async throws { try await base.removeKeySlot(handle) }
    var owner: Int64 { base.owner }
    func isOwnerAlive(_ owner: Int64) -> Bool { base.isOwnerAlive(owner) }
    var ownsItsLock: Bool { base.ownsItsLock }
    func close() { base.close() }
}
