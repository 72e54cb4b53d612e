package import VaultCrypto

@testable package import VaultStorage

/// One process's way to a ``MemoryVault``: a store with the behaviour of SQLite's, without cells and without a disk.
package final class MemoryVaultStore: VaultStore, @unchecked Sendable {
    /// What happens to one durable write.
    package enum Fault: Sendable {
        /// Nothing was written.
        case before
        /// It was written, and reported as failed.
        case after
    }

    package enum Write: Sendable, Hashable {
        case login, user, outbox, provider, spool, unspool
    }

    package let vault: MemoryVault
    package let changes = ChangeSignal()
    package let owner: Int64
    /// What happens to the next write of this kind.
    package var fault: @Sendable (Write) -> Fault? = { _ in nil }
    /// Where others may come in: before and after each transaction.
    package var pause: @Sendable () async -> Void = {}
    private var isClosed = false

    package init(_ vault: MemoryVault) {
        self.vault = vault
        owner = vault.newOwner()
    }

    package func isOwnerAlive(_ owner: Int64) -> Bool { vault.isAlive(owner) }

    package var ownsItsLock: Bool { vault.isAlive(owner) }

    package func close() {
        isClosed = true
        vault.ownerDied(owner)
    }

    func requireOpen() throws(StoreError) {
        if isClosed { throw .closed }
    }

    /// One transaction.
    func write<R: Sendable>(_ kind: Write, _ body: () throws -> R) async throws -> R {
        await pause()
        try requireOpen()
        let result: Result<R, any Error>
        switch fault(kind) {
        case .before: result = .failure(StoreError(.full, "the disk is full"))
        case .after:
            _ = try body()
            result = .failure(StoreError(.io(1), "the commit is not known to be durable"))
        case nil: result = Result { try body() }
        }
        await pause()
        return try result.get()
    }

    package func insertLogin(_ draft: LoginDraft) async throws -> StoredLogin {
        try await write(.login) {
            guard vault.users[draft.userID]?.status ?? .active == .active else {
                throw StoreError(.userDisabled, "the user is disabled", hint: "enable the user first")
            }
            return stored(vault.insert(draft, by: owner))
        }
    }

    package func updateLogin<R: Sendable>(
        _ handle: LoginHandle, _ body: @escaping @Sendable (inout LoginState) throws -> R
    ) async throws -> R {
        try await write(.login) {
            guard let login = vault.logins[handle] else { throw StoreError.notFound(.login) }
            var state = state(of: login, nextFence: vault.nextFence)
            let result = try body(&state)
            vault.write(state, to: login, by: owner)
            return result
        }
    }

    package func updateUser<R: Sendable>(
        _ id: String, _ body: @escaping @Sendable (inout UserState) throws -> R
    ) async throws -> R {
        try await write(.user) {
            guard let user = vault.users[id] else { throw StoreError.notFound(.user) }
            let logins = user.logins.compactMap { vault.logins[$0] }
            var state = UserState(
                handle: user.handle, id: user.id, revision: user.revision, createdAt: user.createdAt,
                status: user.status,
                logins: logins.enumerated().map { offset, login in
                    self.state(of: login, nextFence: vault.nextFence + Int64(offset))
                }, damagedLogins: [])
            let result = try body(&state)
            for (login, var changed) in zip(logins, state.logins) {
                changed.isRemoved = changed.isRemoved || state.isErased
                vault.write(changed, to: login, by: owner)
            }
            vault.queue(state.outbox, by: owner)
            vault.users[id]?.status = state.status
            vault.users[id]?.revision += 1
            if state.isErased { vault.users[id] = nil }
            return result
        }
    }

    package func addOutbox(_ records: [OutboxRecord]) async throws {
        try await write(.outbox) { vault.queue(records, by: owner) }
    }

    package func resolveOutbox(_ handle: OutboxHandle, _ resolution: OutboxResolution) async throws {
        try await write(.outbox) {
            guard let index = vault.outbox.firstIndex(where: { $0.entry.handle == handle }) else {
                throw StoreError.notFound(.outboxEntry)
            }
            switch resolution {
            case .retry(let next, let nonces):
                let old = vault.outbox[index].entry
                var record = old.record
                record.nonces.merge(nonces) { _, new in new }
                vault.outbox[index].entry = StoredOutboxEntry(
                    handle: handle, nextAttemptAt: next, attempts: old.attempts + 1, record: record)
            case .done, .abandoned, .expired:
                vault.outbox.remove(at: index)
            }
        }
    }
}

// MARK: - Spool

extension MemoryVaultStore {
    package func prepareSpool(for count: Int) throws(StoreError) { try requireOpen() }

    package func spool(_ reply: SpooledReply) throws(StoreError) -> SpoolHandle {
        try requireOpen()
        switch fault(.spool) {
        case .before: throw StoreError(.full, "the disk is full")
        case .after:
            _ = vault.spool(reply, of: owner)
            throw StoreError(.io(1), "the entry is not known to be durable")
        case nil: return vault.spool(reply, of: owner)
        }
    }

    package func unspool(_ handle: SpoolHandle) throws(StoreError) {
        try requireOpen()
        let fault = fault(.unspool)
        if fault != .before { vault.spools[handle.owner]?.removeAll { $0.handle == handle } }
        if fault != nil { throw StoreError(.io(1), "the entry is not known to be gone") }
    }

    package func spooledReplies() throws(StoreError) -> [SpoolListing] {
        try requireOpen()
        return vault.spools.keys.sorted().filter { $0 == owner || !vault.isAlive($0) }.flatMap { owner in
            (vault.spools[owner] ?? []).map {
                SpoolListing(owner: owner, handle: $0.handle, reply: $0.reply, damage: nil)
            }
        }
    }
}

// MARK: - Rarely used

extension MemoryVaultStore {
    package func putProvider(
        _ record: ProviderRecord, replacing handle: ProviderHandle?
    ) async throws -> StoredProvider {
        try await write(.provider) {
            let old = vault.providers.firstIndex { $0.handle == handle }
            let provider = StoredProvider(
                handle: handle ?? vault.handle(), revision: old.map { vault.providers[$0].revision + 1 } ?? 1,
                record: record)
            if let old { vault.providers[old] = provider } else { vault.providers.append(provider) }
            return provider
        }
    }

    package func updateProvider(
        _ handle: ProviderHandle,
        _ body: @escaping @Sendable (inout ProviderRecord, ProviderUse) throws -> [AuditEvent.Detail]
    ) async throws -> StoredProvider {
        throw Self.unneeded
    }

    package func removeProvider(_ handle: ProviderHandle) async throws {
        try await write(.provider) { vault.providers.removeAll { $0.handle == handle } }
    }

    package func putAuthorizationRequest(_ record: AuthorizationRequestRecord) async throws {
        try await write(.provider) { vault.requests.append(record) }
    }

    package func takeAuthorizationRequest(_ proof: CallbackProof) async throws -> AuthorizationRequestRecord {
        try await write(.provider) {
            guard let index = vault.requests.firstIndex(where: { $0.state == proof.state }) else {
                throw StoreError.notFound(.authorizationRequest)
            }
            if let refusal = proof.refusal(for: vault.requests[index]) { throw refusal }
            return vault.requests.remove(at: index)
        }
    }

    package func addKeySlot(_ maker: any SlotMaker, label: String) async throws -> StoredKeySlot {
        throw Self.unneeded
    }

    package func removeKeySlot(_ handle: KeySlotHandle, provenBy unlocker: (any SlotUnlocker)?) async throws {
        throw Self.unneeded
    }

    static var unneeded: StoreError { StoreError(.invalidValue, "a vault in memory does not have this") }
}
