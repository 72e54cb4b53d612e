package import VaultCrypto

extension SQLiteVaultStore {
    package func insertLogin(_ draft: LoginDraft) async throws -> StoredLogin {
        try await write { try $0.insertLogin(draft) }
    }

    package func updateLogin<R: Sendable>(
        _ handle: LoginHandle, _ body: @escaping @Sendable (inout LoginState) throws -> R
    ) async throws -> R {
        try await write { try $0.updateLogin(handle, body) }
    }

    package func updateUser<R: Sendable>(
        _ id: String, _ body: @escaping @Sendable (inout UserState) throws -> R
    ) async throws -> R {
        try await write { try $0.updateUser(id, body) }
    }

    package func putProvider(
        _ record: ProviderRecord, replacing handle: ProviderHandle?
    ) async throws -> StoredProvider {
        try await write { try $0.put(record, replacing: handle) }
    }

    package func updateProvider(
        _ handle: ProviderHandle,
        _ body: @escaping @Sendable (inout ProviderRecord, ProviderUse) throws -> [AuditEvent.Detail]
    ) async throws -> StoredProvider {
        // Counting may take long: not while others wait for the write lock.
        let use = try readers.read { reader throws(StoreError) in try reader.use(of: handle) }
        return try await write { try $0.update(handle, use, body) }
    }

    package func removeProvider(_ handle: ProviderHandle) async throws {
        try await write { try $0.remove(handle) }
    }

    package func putProvider(
        _ record: ProviderRecord, replacingDamaged name: DamagedRowName
    ) async throws -> StoredProvider {
        let found = try readers.read { reader throws(StoreError) in try reader.damage.find(name) }
        return try await write { try $0.put(record, replacingDamaged: found.place) }
    }

    package func discardDamagedRow(_ name: DamagedRowName) async throws -> DiscardedRow {
        // Whose manifest misses a login is found by looking at all users: not under the write lock.
        let found = try readers.read { reader throws(StoreError) in try reader.damage.find(name) }
        return try await write { try $0.discard(found.place) }
    }

    package func discardDamagedUser(_ id: String) async throws -> DiscardedRow {
        let index = context.keyring.blindIndex(ofUserID: id)
        return try await write { try $0.discardUser(index) }
    }

    package func putAuthorizationRequest(_ record: AuthorizationRequestRecord) async throws {
        try await write { try $0.put(record) }
    }

    package func takeAuthorizationRequest(_ proof: CallbackProof) async throws -> AuthorizationRequestRecord {
        // Not finding it must still sweep: so it is no error before the transaction is committed.
        switch try await write({ try $0.takeAuthorizationRequest(proof) }) {
        case .taken(let record): return record
        case .refused(let error): throw error
        case nil: throw StoreError.notFound(.authorizationRequest)
        }
    }

    package func addOutbox(_ records: [OutboxRecord]) async throws {
        try await write { try $0.queue(records) }
    }

    package func resolveOutbox(_ handle: OutboxHandle, _ resolution: OutboxResolution) async throws {
        try await write { try $0.resolve(handle, resolution) }
    }

    package func keepUnusableReply(_ record: UnusableReplyRecord) async throws {
        try await write { try $0.keep(record) }
    }

    package func forgetUnusableReplies(before time: Timestamp) async throws {
        // Asked every two seconds, by every process.
        let hasAny = try readers.read { reader throws(StoreError) in try reader.hasUnusableReplies(before: time) }
        if hasAny { _ = try await write { try $0.forgetUnusableReplies(before: time) } }
    }

    package func addKeySlot(_ maker: any SlotMaker, label: String) async throws -> StoredKeySlot {
        let handle = KeySlotHandle.random()
        let context = context
        // A passphrase is stretched, for most of a second.
        let slot = try await BlockingLane.opening.run {
            do throws(VaultCryptoError) {
                return try KeySlot.wrap(
                    context.vaultKey, for: maker, id: handle.bytes, label: label,
                    createdAt: context.clock().milliseconds, vault: context.vaultID)
            } catch {
                throw StoreError(adding: error)
            }
        }
        try await write { try $0.add(slot) }
        return StoredKeySlot(handle: handle, description: slot.description)
    }

    package func removeRemnants() async -> Remnants {
        if database.liveness.isLost { return .kept(.ownershipLost) }
        return await withCheckedContinuation { continuation in
            writer.submit(RemnantOperation(database.path, continuation))
        }
    }

    package func removeKeySlot(_ handle: KeySlotHandle, provenBy unlocker: (any SlotUnlocker)?) async throws {
        let proven = try unlocker.map { unlocker throws(StoreError) in try prove(unlocker, besides: handle) }
        let remaining = proven ?? context.openedBy
        try await write { try $0.removeKeySlot(handle, provenBy: remaining) }
    }

    /// Opens a slot by this key, as if the vault was to be opened. Before the transaction: a passphrase takes its time.
    private func prove(_ unlocker: any SlotUnlocker, besides handle: KeySlotHandle) throws(StoreError) -> ProvenKeySlot
    {
        let slots = try readers.read { reader throws(StoreError) in
            let row = try reader.opener.vaultRow()
            return try KeySlotRows.all(reader.tables).slots.filter {
                $0.description.id != handle.bytes && row.knows($0)
            }
        }
        do throws(VaultCryptoError) {
            return try ProvenKeySlot(KeySlot.unlock(slots, with: unlocker, vault: context.vaultID).slot)
        } catch {
            throw StoreError(opening: error)
        }
    }
}

extension StoreError {
    init(adding error: VaultCryptoError) {
        switch error.code {
        case .labelTooLong, .passphraseParametersOutOfBounds:
            self.init(.invalidValue, error.reason, hint: error.hint)
        default: self.init(opening: error)
        }
    }
}
