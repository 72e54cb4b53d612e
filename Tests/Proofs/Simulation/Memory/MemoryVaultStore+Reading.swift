import VaultCrypto

@testable package import VaultStorage

extension MemoryVaultStore {
    func state(of login: MemoryVault.Login, nextFence: Int64) -> LoginState {
        LoginState(
            handle: login.handle, user: login.user, userID: login.userID,
            userStatus: vault.users[login.userID]?.status ?? .active, provider: login.provider,
            incarnation: login.incarnation, isHeld: login.incarnation < vault.incarnation, revision: login.revision,
            position: login.position, dueAt: login.dueAt, session: login.session, refresh: login.refresh,
            key: login.key, intent: login.intent, nextFence: nextFence)
    }

    func stored(_ login: MemoryVault.Login) -> StoredLogin {
        StoredLogin(
            handle: login.handle, user: login.user, userID: login.userID,
            userStatus: vault.users[login.userID]?.status ?? .active, provider: login.provider,
            position: login.position, revision: login.revision, incarnation: login.incarnation,
            isHeld: login.incarnation < vault.incarnation, dueAt: login.dueAt, session: login.session,
            refresh: login.refresh, key: login.key, intent: login.intent)
    }

    package func login(_ handle: LoginHandle) throws(StoreError) -> StoredLogin {
        try requireOpen()
        guard let login = vault.logins[handle] else { throw .notFound(.login) }
        return stored(login)
    }

    package func session(_ selector: LoginSelector) throws(StoreError) -> SessionSnapshot {
        try requireOpen()
        let login = try selected(selector)
        return SessionSnapshot(
            login: login.handle, user: login.user, userStatus: vault.users[login.userID]?.status ?? .active,
            provider: login.provider, position: login.position, incarnation: login.incarnation,
            isHeld: login.incarnation < vault.incarnation, isRefreshable: login.refresh != nil,
            isDPoPBound: login.key != nil, session: login.session)
    }

    private func selected(_ selector: LoginSelector) throws(StoreError) -> MemoryVault.Login {
        switch selector {
        case .login(let handle):
            guard let login = vault.logins[handle] else { throw .notFound(.login) }
            return login
        case .userLogin(let id, let handle):
            guard let login = vault.logins[handle], login.userID == id else { throw .notFound(.login) }
            return login
        case .user(let id):
            guard let user = vault.users[id] else { throw .notFound(.user) }
            let all = user.logins.compactMap { vault.logins[$0] }
            let living = all.filter { $0.session.state != .terminated }
            let candidates = living.isEmpty ? all : living
            guard candidates.count < 2 else {
                throw StoreError(.ambiguousLogin(candidates.map(\.handle)), "the user has several logins")
            }
            guard let login = candidates.first else { throw .notFound(.login) }
            return login
        }
    }

    package func logins(ofUser userID: String?, after: LoginHandle?, limit: Int) throws(StoreError) -> [LoginListing] {
        try requireOpen()
        let all = vault.logins.values.filter { userID == nil || $0.userID == userID }
            .sorted { $0.handle.text < $1.handle.text }
        return all.filter { login in after.map { login.handle.text > $0.text } ?? true }.prefix(limit).map { login in
            LoginListing(
                handle: login.handle, userHandle: login.user,
                content: LoginListing.Content(
                    userID: login.userID, userStatus: vault.users[login.userID]?.status ?? .active,
                    provider: login.provider, position: login.position, revision: login.revision,
                    incarnation: login.incarnation, isHeld: login.incarnation < vault.incarnation,
                    dueAt: login.dueAt, isRefreshable: login.refresh?.refreshToken != nil,
                    isDPoPBound: login.key != nil, intent: login.intent, session: login.session),
                damage: nil)
        }
    }

    package func dueLogins(before time: Timestamp, after cursor: DueCursor?, limit: Int) throws(StoreError) -> DuePage {
        try requireOpen()
        // Who has been given a page does not come again before its end: good enough for a small vault.
        let all = vault.logins.values.compactMap { login in login.dueAt.map { ($0, login) } }
            .sorted { ($0.0.milliseconds, $0.1.handle.text) < ($1.0.milliseconds, $1.1.handle.text) }
        let due = all.filter { $0.0 <= time }.dropFirst(Int(cursor?.row ?? 0)).prefix(limit)
        return DuePage(
            logins: due.map { dueAt, login in
                DueLogin(
                    login: login.handle, provider: login.provider, dueAt: dueAt, hasRefreshCell: login.refresh != nil)
            },
            cursor: due.count < limit
                ? nil : due.last.map { DueCursor(dueAt: $0.0, row: (cursor?.row ?? 0) + Int64(due.count)) },
            nextDueAt: all.first { $0.0 > time }?.0)
    }

    package func user(_ id: String) throws(StoreError) -> StoredUser {
        try requireOpen()
        guard let user = vault.users[id] else { throw .notFound(.user) }
        return StoredUser(
            handle: user.handle, id: user.id, status: user.status, revision: user.revision,
            createdAt: user.createdAt, logins: user.logins)
    }

    package func users(after: UserHandle?, limit: Int) throws(StoreError) -> [UserListing] { throw Self.unneeded }

    package func providers(after sequence: Int64?, limit: Int) throws(StoreError) -> [ProviderListing] {
        try requireOpen()
        return vault.providers.enumerated().dropFirst(Int(sequence ?? 0)).prefix(limit).map { index, provider in
            ProviderListing(sequence: Int64(index + 1), handle: provider.handle, provider: provider, damage: nil)
        }
    }

    package func providers(ofUser userID: String) throws(StoreError) -> Set<ProviderHandle> {
        try requireOpen()
        return Set(vault.logins.values.filter { $0.userID == userID }.compactMap(\.provider))
    }

    package func damagedRows(limit: Int) throws(StoreError) -> [DamagedRow] { [] }
    package func damagedRow(_ name: DamagedRowName) throws(StoreError) -> DamagedRowContent {
        throw .notFound(.damagedRow)
    }
    package func putProvider(
        _ record: ProviderRecord, replacingDamaged name: DamagedRowName
    ) async throws -> StoredProvider {
        throw StoreError.notFound(.damagedRow)
    }
    package func discardDamagedRow(_ name: DamagedRowName) async throws -> DiscardedRow {
        throw StoreError.notFound(.damagedRow)
    }
    package func discardDamagedUser(_ id: String) async throws -> DiscardedRow {
        throw StoreError.notFound(.damagedRow)
    }

    package func provider(_ handle: ProviderHandle) throws(StoreError) -> StoredProvider {
        try requireOpen()
        guard let provider = vault.providers.first(where: { $0.handle == handle }) else { throw .notFound(.provider) }
        return provider
    }

    package func provider(named name: String) throws(StoreError) -> StoredProvider {
        try requireOpen()
        guard let provider = vault.providers.first(where: { $0.record.name == name }) else {
            throw .notFound(.provider)
        }
        return provider
    }

    package func openIntents(after fence: Int64?, limit: Int) throws(StoreError) -> IntentPage {
        try requireOpen()
        let open = vault.logins.values.compactMap { login in
            login.intent.map { StoredIntent(login: login.handle, record: $0) }
        }
        let rest = open.filter { $0.record.fence > fence ?? .min }.sorted { $0.record.fence < $1.record.fence }
        return IntentPage(
            intents: Array(rest.prefix(limit)), next: rest.count < limit ? nil : rest.prefix(limit).last?.record.fence)
    }

    package func hasOpenIntents() throws(StoreError) -> Bool {
        try requireOpen()
        return vault.logins.values.contains { $0.intent != nil }
    }

    package func dueOutboxEntries(at time: Timestamp, limit: Int) throws(StoreError) -> [StoredOutboxEntry] {
        try requireOpen()
        let due = vault.outbox.filter { $0.entry.nextAttemptAt <= time }.map(\.entry)
        return Array(due.prefix(limit))
    }

    package func outbox(after sequence: Int64?, limit: Int) throws(StoreError) -> [OutboxListing] {
        try requireOpen()
        return vault.outbox.filter { $0.sequence > sequence ?? 0 }.prefix(limit).map {
            OutboxListing(sequence: $0.sequence, handle: $0.entry.handle, entry: $0.entry, damage: nil)
        }
    }

    package func outboxEntry(_ handle: OutboxHandle) throws(StoreError) -> StoredOutboxEntry {
        try requireOpen()
        guard let found = vault.outbox.first(where: { $0.entry.handle == handle }) else {
            throw .notFound(.outboxEntry)
        }
        return found.entry
    }

    package func auditEntries(after sequence: Int64, limit: Int) throws(StoreError) -> [AuditEntry] { [] }
    package func lastRenewal(
        at provider: ProviderHandle, otherThan login: LoginHandle, since: Timestamp
    ) throws(StoreError) -> Timestamp? {
        vault.logins.values.filter { $0.provider == provider && $0.handle != login }.map(\.session.obtainedAt).max()
            .flatMap { $0 > since ? $0 : nil }
    }
    package func untoldFailures(limit: Int) throws(StoreError) -> [LoginHandle] {
        try requireOpen()
        return vault.logins.values.filter { $0.session.hasUntoldFailure }.prefix(limit).map(\.handle)
    }

    package func auditHead() throws(StoreError) -> Int64 { 0 }
    package func userID(of handle: UserHandle) throws(StoreError) -> String { throw Self.unneeded }
    package func keySlots() throws(StoreError) -> [StoredKeySlot] { [] }
    package var openingKeySlot: KeySlotHandle { KeySlotHandle(.zero) }
    package func files() -> [FileReport] { [] }
    package func spoolDepth() throws(StoreError) -> SpoolDepth { throw Self.unneeded }
    package func depths() throws(StoreError) -> StoreDepths { throw Self.unneeded }
    package func statistics() throws(StoreError) -> StoreStatistics { throw Self.unneeded }
    package func verify(_ progress: (VerificationProgress) -> Void) throws(StoreError) -> VerificationReport {
        throw Self.unneeded
    }
}
