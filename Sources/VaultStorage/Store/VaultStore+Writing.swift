import VaultCrypto

extension VaultStore {
    // MARK: Users and logins

    package func insertLogin(_ draft: LoginDraft) async throws -> StoredLogin {
        var first = [PrefetchHint.rowsOfUser(.userByIndex, id: draft.userId)]
        if let provider = draft.provider { first.append(.rows(.providerExists, provider.bytes)) }
        return try await write(.each(first)) { try $0.insertLogin(draft) }
    }

    package func changeLogin(
        _ handle: LoginHandle, endings: Int? = nil, _ body: @escaping @Sendable (inout LoginState) throws -> Void
    ) async throws {
        try await perform(.rows(.login, handle.bytes)) { try $0.changeLogin(handle, endings: endings, body) }
    }

    /// Changes the selected login. If its user has only one, the login is chosen under the write lock.
    package func changeLogin(
        _ login: LoginSelector, _ body: @escaping @Sendable (inout LoginState) throws -> Void
    ) async throws {
        switch login {
        case .login(let handle, ofUsers: ""): try await changeLogin(handle, body)
        case .login: try await changeLogin(try await session(login).login, body)
        case .user(let id):
            let isDone = BodyResult<Bool>()
            try await perform(.rowsOfUser(.loginsOfUser, id: id)) {
                isDone.value = try $0.changeOnlyLogin(ofUserId: id, body)
            }
            if isDone.value != true { try await changeLogin(try await session(login).login, body) }
        }
    }

    /// Changes several logins in one transaction. Damaged or missing ones are skipped, and absent from the result.
    package func updateEach<R: Sendable>(
        _ logins: [LoginHandle], _ body: @escaping @Sendable (inout LoginState) throws -> R
    ) async throws -> [(login: LoginHandle, value: R)] {
        try await write(.each(logins.map { .rows(.login, $0.bytes) })) { transaction in
            var results: [(login: LoginHandle, value: R)] = []
            for login in logins {
                do {
                    try transaction.updateLogin(login) { results.append((login, try body(&$0))) }
                } catch let error as StoreError where error.isDamage || error.code == .notFound(.login) {
                    continue
                }
            }
            return results
        }
    }

    package func updateUser<R: Sendable>(
        _ id: String, _ body: @escaping @Sendable (inout UserState) throws -> R
    ) async throws -> R {
        let first: [PrefetchHint] = [.rowsOfUser(.userByIndex, id: id), .rowsOfUser(.loginsOfUser, id: id)]
        return try await write(.each(first)) { try $0.updateUser(id, body) }
    }

    // MARK: Providers

    /// Adds a provider, or replaces the one with this handle. Names are unique.
    ///
    /// - Parameter isRehearsal: Whether everything is undone in the end.
    package func putProvider(
        _ record: ProviderRecord, replacing handle: ProviderHandle?, isRehearsal: Bool = false
    ) async throws -> StoredProvider {
        try await write(isRehearsal: isRehearsal) { try $0.put(record, replacing: handle) }
    }

    /// Replaces a damaged provider, which keeps its logins.
    package func putProvider(
        _ record: ProviderRecord, replacingDamaged name: DamagedRowName, isRehearsal: Bool = false
    ) async throws -> StoredProvider {
        let found = try await survey { try $0.damage.find(name) }
        return try await write(isRehearsal: isRehearsal) { try $0.put(record, replacingDamaged: found.place) }
    }

    /// Changes a provider's current record. The body returns details to record in addition to the changes themselves.
    /// If it changes nothing, the row and its revision stay as they are.
    package func updateProvider(
        _ handle: ProviderHandle,
        _ body: @escaping @Sendable (inout ProviderRecord, ProviderUse) throws -> [AuditEvent.Detail]
    ) async throws -> StoredProvider {
        // Counting may take long, so it runs without the write lock.
        let use = try await survey { try $0.use(of: handle) }
        return try await write { try $0.update(handle, use, body) }
    }

    /// Removes a provider. Refused while a login uses it.
    package func removeProvider(_ handle: ProviderHandle) async throws {
        try await write { try $0.remove(handle) }
    }

    // MARK: Damaged rows

    /// Deletes a row that cannot be opened, and the rows that depend on it. Refused if the row opens. See
    /// ``damagedRow(_:)``.
    package func discardDamagedRow(_ name: DamagedRowName) async throws -> DiscardedRow {
        // Finding the user whose manifest misses a login means reading all users, so it runs without the write lock.
        let found = try await survey { try $0.damage.find(name) }
        // The caller named one login, but others would be discarded with it.
        if found.table == .manifestPart, case .handle = name { throw StoreError.goesWithPart(found.name) }
        return try await write { try $0.discard(found.place) }
    }

    /// Discards the damaged row of a user, found by the user's id.
    package func discardDamagedUser(_ id: String) async throws -> DiscardedRow {
        try await write { try $0.discardUser(id) }
    }

    /// Erases a user who has pending log-ins and nothing else. Returns false if there is none.
    package func eraseNewcomer(_ id: String) async throws -> Bool {
        try await write { try $0.eraseNewcomer(id) }
    }

    // MARK: Journals

    /// - Parameter user: The user when the log-in began: refused if they were erased since. Nil: any.
    package func putAuthorizationRequest(
        _ record: AuthorizationRequestRecord, of user: UserHandle? = nil
    ) async throws {
        try await write { try $0.put(record, of: user) }
    }

    /// Takes a pending log-in once. It is never returned after its expiry, or to another browser or user than the one
    /// that began it. All expired log-ins are deleted.
    package func takeAuthorizationRequest(_ proof: CallbackProof) async throws -> AuthorizationRequestRecord {
        // Not finding it must still sweep: so it is no error before the transaction is committed.
        switch try await write({ try $0.takeAuthorizationRequest(proof) }) {
        case .taken(let record): return record
        case .refused(let error): throw error
        case nil: throw StoreError.notFound(.authorizationRequest)
        }
    }

    /// Queues revocations of logins that are gone.
    package func addOutbox(_ records: [OutboxRecord]) async throws {
        try await write { try $0.queue(records) }
    }

    package func resolveOutbox(_ handle: OutboxHandle, _ resolution: OutboxResolution) async throws {
        try await write(.rows(.outboxEntry, handle.bytes)) { try $0.resolve(handle, resolution) }
    }

    /// Keeps an unusable reply until its login's chain moves on, or is gone.
    package func keepUnusableReply(_ record: UnusableReplyRecord) async throws {
        try await write { try $0.keep(record) }
    }

    /// Deletes those from before this time. Writes nothing if there is none.
    package func forgetUnusableReplies(before time: Timestamp) async throws {
        // Asked every two seconds, by every process.
        let hasAny = try await read { reader throws(StoreError) in try reader.hasUnusableReplies(before: time) }
        if hasAny { _ = try await write { try $0.forgetUnusableReplies(before: time) } }
    }

    // MARK: The trail

    /// Removes the next rows of the trail that may go, in one short transaction.
    package func pruneTrail(_ limits: TrailLimits, size: Int = 500) async throws -> PrunedRows {
        try await write { try $0.prune(limits, size: size) }
    }

    /// Begins a new incarnation: logins keep their tokens, and no refresh token of theirs is sent.
    package func holdAllLogins(_ event: AuditEvent) async throws {
        try await write { try $0.holdAllLogins(event) }
    }

    /// Reports that a provider's replies contradict its profile. Returns false if that was reported before.
    package func reportDrift(of provider: StoredProvider, _ findings: [AuditEvent.Detail]) async throws -> Bool {
        try await write { try $0.reportDrift(of: provider, findings) }
    }

    /// Records something that changes nothing.
    ///
    /// - Parameter provider: whom it is about, if it is about one.
    package func record(_ event: AuditEvent, of provider: ProviderHandle? = nil) async throws {
        try await write { try $0.audit(event, about: AuditSubject(provider: provider)) }
    }
}
