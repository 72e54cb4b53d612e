import VaultCrypto

extension WriteTransaction {
    func providers() throws(StoreError) -> [StoredProvider] {
        let row = try connection.statement(SQL.providers)
        defer { row.reset() }
        var result: [StoredProvider] = []
        while try row.step() { result.append(try opener.provider(row)) }
        return result
    }

    func put(_ record: ProviderRecord, replacing handle: ProviderHandle?) throws(StoreError) -> StoredProvider {
        let existing = try providers()
        guard !record.name.isEmpty else { throw StoreError(.invalidValue, "a provider needs a name") }
        guard !existing.contains(where: { $0.record.name == record.name && $0.handle != handle }) else {
            throw StoreError(.conflict, "there is a provider of this name already", hint: "choose another name")
        }
        let old = existing.first { $0.handle == handle }
        if handle != nil && old == nil { throw .notFound(.provider) }
        let stored = StoredProvider(
            handle: handle ?? .random(), revision: (old?.revision ?? 0) + 1, record: record)
        let cell = try sealing { () throws(VaultCryptoError) in
            try SealedCell.seal(
                record.encoded(), kind: .provider, key: context.keyring.primaryRoot,
                associatedData: ProviderRecord.associatedData(
                    context.vaultID, stored.handle, revision: stored.revision))
        }
        let write = try connection.statement(
            """
            INSERT INTO provider (handle, revision, cell) VALUES (?1, ?2, ?3)
            ON CONFLICT (handle) DO UPDATE SET revision = ?2, cell = ?3
            """)
        write.bind(1, stored.handle.bytes)
        write.bind(2, stored.revision)
        write.bind(3, cell)
        try write.run()
        try audit(
            AuditEvent(old == nil ? .providerAdded : .providerUpdated, changes(from: old?.record, to: record)),
            about: AuditSubject(provider: stored.handle, revision: stored.revision))
        return stored
    }

    /// Where tokens go, before and after: what an operator must be able to see of a change.
    private func changes(from old: ProviderRecord?, to new: ProviderRecord) -> [AuditEvent.Detail] {
        var detail = [AuditEvent.Detail("name", new.name), AuditEvent.Detail("tokenEndpoint", new.tokenEndpoint)]
        if let old, old.tokenEndpoint != new.tokenEndpoint {
            detail.append(AuditEvent.Detail("previousTokenEndpoint", old.tokenEndpoint))
        }
        return detail
    }

    func remove(_ handle: ProviderHandle) throws(StoreError) {
        guard let old = try providers().first(where: { $0.handle == handle }) else { throw .notFound(.provider) }
        let use = try connection.statement("SELECT 1 FROM login WHERE provider = ?1 LIMIT 1")
        let isUsed = try use.withBinding(1, handle.bytes) { () throws(StoreError) in try use.step() }
        guard !isUsed else {
            throw StoreError(
                .providerInUse, "the provider still has logins", hint: "log these out or remove them first")
        }
        let delete = try connection.statement("DELETE FROM provider WHERE handle = ?1")
        delete.bind(1, handle.bytes)
        try delete.run()
        try audit(
            AuditEvent(.providerRemoved, [AuditEvent.Detail("name", old.record.name)]),
            about: AuditSubject(provider: handle, revision: old.revision + 1))
    }
}
