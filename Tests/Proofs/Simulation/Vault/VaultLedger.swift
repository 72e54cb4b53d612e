import TokenVaultTesting
import VaultCrypto
import VaultStorage

/// What a vault holds, opened: looked up after each commit, from nothing but its rows and the key.
final class VaultLedger: @unchecked Sendable {
    let vault: MemoryVault
    /// Told of every change that became durable, before its author knows of it.
    weak var observer: (any VaultObserver)?
    private(set) var logins: [LoginHandle: StoredLogin] = [:]
    private(set) var incarnation: Int64
    private let reader: Reader
    private var state: MemoryState
    private var lastAuditRow: Int64 = 0

    init(_ vault: MemoryVault, _ key: MemoryKey) throws {
        self.vault = vault
        guard let context = try VaultContext.open(vault.database.reader(), unlocker: key, clock: vault.clock) else {
            throw StoreError(.damaged, "the vault's own row is missing")
        }
        reader = try Reader(vault.database.reader(), context)
        incarnation = context.incarnation
        state = vault.database.current
        lastAuditRow = try reader.auditHead()
    }

    /// Whether anything was committed since then.
    func hasChanged(since earlier: MemoryState) -> Bool {
        !vault.database.current.changedRows(of: .audit, since: earlier).isEmpty
    }

    var providerCount: Int { state.count(.provider) }

    /// How many replies each process's spool holds.
    var spooled: [Int64: Int] {
        vault.spools.entries.reduce(into: [:]) { $0[$1.owner, default: 0] += 1 }
    }

    /// The vault goes back to what it was. No change is reported.
    func putBack(_ earlier: MemoryState) throws {
        vault.database.putBack(earlier)
        reader.context.forgetSeen()
        let former = state
        state = earlier
        lastAuditRow = try reader.auditHead()
        noteIncarnation()
        for handle in changedHandles(since: former) { logins[handle] = try login(handle) }
        try noteUsers(since: former)
    }

    /// Notes what one commit of this process has changed.
    func look(by owner: Int64) {
        let former = state
        state = vault.database.current
        do { try compare(with: former, by: owner) } catch { observer?.unreadable("\(error)") }
    }

    /// Everything that a full check finds wrong.
    func findings() throws -> [String] {
        try VaultCheck(reader.tables, reader.context).run { _ in }.findings.map { "\($0.place): \($0.problem)" }
    }

    private func compare(with former: MemoryState, by owner: Int64) throws {
        let events = try newEvents()
        noteIncarnation()
        for handle in changedHandles(since: former) {
            let found = try login(handle)
            let known = logins[handle]
            logins[handle] = found
            observer?.loginChanged(from: known, to: found, by: owner, telling: events[handle] ?? [])
        }
        try noteUsers(since: former)
        for key in state.changedRows(of: .outbox, since: former) where former.isMissing(key, in: .outbox) {
            guard let name = state.bytes16(Table.outbox["handle"], ofRow: key) else { continue }
            observer?.revocationQueued(try reader.outboxEntry(OutboxHandle(name)).record, by: owner)
        }
    }

    private func noteIncarnation() {
        if let found = state.integer(Table.vault["incarnation"], ofRow: 1) { incarnation = found }
    }

    private func changedHandles(since former: MemoryState) -> [LoginHandle] {
        changedLogins(since: former).compactMap { key in
            let column = Table.login["handle"]
            return (state.bytes16(column, ofRow: key) ?? former.bytes16(column, ofRow: key)).map { LoginHandle($0) }
        }
    }

    private func changedLogins(since former: MemoryState) -> [Int64] {
        var keys = Set(state.changedRows(of: .login, since: former))
        keys.formUnion(state.changedRows(of: .loginSecret, since: former))
        for key in state.changedRows(of: .refreshIntent, since: former) {
            for state in [state, former] {
                if let login = state.integer(Table.refreshIntent["login"], ofRow: key) { keys.insert(login) }
            }
        }
        return keys.sorted()
    }

    /// The status of a user stands in no row of a login.
    private func noteUsers(since former: MemoryState) throws {
        for key in state.changedRows(of: .user, since: former) {
            guard let name = state.bytes16(Table.user["handle"], ofRow: key) else { continue }
            for login in logins.values where login.user == UserHandle(name) {
                logins[login.handle] = try self.login(login.handle)
            }
        }
    }

    private func login(_ handle: LoginHandle) throws -> StoredLogin? {
        do throws(StoreError) { return try reader.login(handle) } catch {
            guard error.code == .notFound(.login) else { throw error }
            return nil
        }
    }

    private func newEvents() throws -> [LoginHandle: [AuditEvent]] {
        var events: [LoginHandle: [AuditEvent]] = [:]
        for entry in try reader.auditEntries(after: lastAuditRow, limit: 10_000) {
            lastAuditRow = entry.sequence
            if let login = entry.login { events[login, default: []].append(AuditEvent(entry.kind, entry.detail)) }
        }
        return events
    }
}

/// Watches what becomes durable in a vault.
protocol VaultObserver: AnyObject {
    func loginChanged(
        from old: StoredLogin?, to new: StoredLogin?, by owner: Int64, telling events: [AuditEvent])
    func revocationQueued(_ record: OutboxRecord, by owner: Int64)
    func spooled(_ reply: SpooledReply, by owner: Int64)
    var now: Int64 { get }
    /// The process was told that its commit of this moment failed, and it had happened.
    func commitUnknown(by owner: Int64, at time: Int64)
    /// The vault cannot be read back.
    func unreadable(_ problem: String)
}
