import VaultCrypto

@testable package import VaultStorage

/// What a vault holds, in memory and unsealed: shared by several ``MemoryVaultStore``s as a file is by processes.
///
/// Not for several threads: whoever schedules the simulation runs one job at a time.
package final class MemoryVault: @unchecked Sendable {
    package struct User: Equatable {
        package let handle: UserHandle
        package let id: String
        package var status = UserStatus.active
        package var revision: Int64 = 1
        package let createdAt: Timestamp
        package var logins: [LoginHandle] = []
    }

    package struct Login: Equatable {
        package let handle: LoginHandle
        package let user: UserHandle
        package let userID: String
        package let provider: ProviderHandle?
        package var position = ChainPosition.first
        package var revision: Int64 = 1
        package var incarnation: Int64
        package var dueAt: Timestamp?
        package var session: SessionRecord
        package var refresh: RefreshRecord?
        package var key: KeyRecord?
        package var intent: IntentRecord?
    }

    package struct Spooled {
        package let handle: SpoolHandle
        package let reply: SpooledReply
    }

    package internal(set) var users: [String: User] = [:]
    package internal(set) var logins: [LoginHandle: Login] = [:]
    package internal(set) var providers: [StoredProvider] = []
    package internal(set) var outbox: [(sequence: Int64, entry: StoredOutboxEntry)] = []
    package internal(set) var spools: [Int64: [Spooled]] = [:]
    package internal(set) var requests: [AuthorizationRequestRecord] = []
    /// Logins of an older incarnation are held.
    package var incarnation: Int64 = 1
    package private(set) var living: Set<Int64> = []
    /// Owners whose process goes on without its lock.
    package var lockless: Set<Int64> = []
    package private(set) var lastFence: Int64 = 0
    package let clock: @Sendable () -> Timestamp
    /// Is told of every change that became durable.
    package weak var observer: (any MemoryVaultObserver)?

    private var lastOwner: Int64 = 0
    private var lastHandle: UInt64 = 0
    private var lastSequence: Int64 = 0

    package init(clock: @escaping @Sendable () -> Timestamp) {
        self.clock = clock
    }

    // MARK: Ownership

    package func newOwner() -> Int64 {
        lastOwner += 1
        living.insert(lastOwner)
        return lastOwner
    }

    package func ownerDied(_ owner: Int64) { living.remove(owner) }

    package func isAlive(_ owner: Int64) -> Bool { living.contains(owner) && !lockless.contains(owner) }

    // MARK: Counters

    func handle<Subject>(_: Subject.Type = Subject.self) -> Handle<Subject> {
        lastHandle += 1
        let bytes = (0..<16).map { $0 < 8 ? UInt8(0x5A) : UInt8(truncatingIfNeeded: lastHandle >> (8 * (15 - $0))) }
        return Handle(Bytes16(bytes) ?? .zero)
    }

    var nextFence: Int64 { lastFence + 1 }

    private func nextSequence() -> Int64 {
        lastSequence += 1
        return lastSequence
    }

    // MARK: Changes

    func write(_ state: LoginState, to login: Login, by owner: Int64) {
        if let fence = state.intent?.fence { lastFence = max(lastFence, fence) }
        var changed: Login? = login
        if state.isRemoved {
            changed = nil
            users[login.userID]?.logins.removeAll { $0 == login.handle }
        } else {
            changed?.apply(state, incarnation: incarnation)
        }
        logins[login.handle] = changed
        observer?.loginChanged(from: login, to: changed, by: owner, telling: state.auditEvents)
        queue(state.outbox, by: owner)
    }

    func insert(_ draft: LoginDraft, by owner: Int64) -> Login {
        var user =
            users[draft.userID] ?? User(handle: handle(), id: draft.userID, createdAt: clock())
        let name: LoginHandle = handle()
        let login = Login(
            handle: name, user: user.handle, userID: user.id, provider: draft.provider, incarnation: incarnation,
            dueAt: draft.dueAt(of: name), session: draft.session, refresh: draft.refresh, key: draft.key)
        user.logins.append(login.handle)
        users[user.id] = user
        logins[login.handle] = login
        observer?.loginChanged(from: nil, to: login, by: owner, telling: draft.auditEvents)
        return login
    }

    func queue(_ records: [OutboxRecord], by owner: Int64) {
        for record in records {
            let entry = StoredOutboxEntry(
                handle: record.handle, nextAttemptAt: clock(), attempts: 0, record: record)
            if let index = outbox.firstIndex(where: { $0.entry.handle == record.handle }) {
                outbox[index].entry = entry
            } else {
                outbox.append((nextSequence(), entry))
                observer?.revocationQueued(record, by: owner)
            }
        }
    }

    func spool(_ reply: SpooledReply, of owner: Int64) -> SpoolHandle {
        let entry: Handle<SpoolHandle> = handle()
        let handle = SpoolHandle(owner: owner, entry: entry.bytes)
        spools[owner, default: []].append(Spooled(handle: handle, reply: reply))
        observer?.spooled(reply, by: owner)
        return handle
    }
}

/// Who watches a ``MemoryVault``. Called after each durable change, before its author knows of it.
package protocol MemoryVaultObserver: AnyObject {
    func loginChanged(
        from old: MemoryVault.Login?, to new: MemoryVault.Login?, by owner: Int64, telling events: [AuditEvent])
    func revocationQueued(_ record: OutboxRecord, by owner: Int64)
    func spooled(_ reply: SpooledReply, by owner: Int64)
}

extension MemoryVault.Login {
    /// As SQLite's store does it: the row has a new revision only if something in it has changed.
    mutating func apply(_ state: LoginState, incarnation current: Int64) {
        var changed = self
        changed.position = state.position
        changed.dueAt = state.dueAt
        changed.session = state.session
        changed.refresh = state.refresh
        changed.key = state.key
        if state.position.chain != position.chain { changed.incarnation = current }
        if changed != self { changed.revision += 1 }
        changed.intent = state.intent
        self = changed
    }
}
