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
        let old = existing.first { $0.handle == handle }
        if handle != nil && old == nil { throw .notFound(.provider) }
        return try put(record, replacing: old, among: existing, telling: [])
    }

    /// Changes a provider as it is now, whoever changed it last.
    func update(
        _ handle: ProviderHandle, _ body: (inout ProviderRecord, ProviderUse) throws -> [AuditEvent.Detail]
    ) throws -> StoredProvider {
        let existing = try providers()
        guard let old = existing.first(where: { $0.handle == handle }) else { throw StoreError.notFound(.provider) }
        var record = old.record
        let detail = try body(&record, try use(of: handle))
        guard record != old.record else { return old }
        return try put(record, replacing: old, among: existing, telling: detail)
    }

    private func use(of handle: ProviderHandle) throws(StoreError) -> ProviderUse {
        let count = try connection.statement(
            "SELECT count(*) FROM login WHERE provider = ?1 AND refreshTag IS NOT NULL")
        return try count.withBinding(1, handle.bytes) { () throws(StoreError) in
            ProviderUse(refreshableLogins: try count.step() ? Int(count.integer(0)) : 0)
        }
    }

    private func put(
        _ record: ProviderRecord, replacing old: StoredProvider?, among existing: [StoredProvider],
        telling detail: [AuditEvent.Detail]
    ) throws(StoreError) -> StoredProvider {
        guard !record.name.isEmpty else { throw StoreError(.invalidValue, "a provider needs a name") }
        guard !existing.contains(where: { $0.record.name == record.name && $0.handle != old?.handle }) else {
            throw StoreError(.conflict, "there is a provider of this name already", hint: "choose another name")
        }
        let stored = StoredProvider(
            handle: old?.handle ?? .random(), revision: (old?.revision ?? 0) + 1, record: record)
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
        let tag = try sealing { () throws(VaultCryptoError) in try SealedCell.tag(of: cell) }
        try changeVault(
            AuditEvent(
                old == nil ? .providerAdded : .providerUpdated, changes(from: old?.record, to: record) + detail),
            about: AuditSubject(provider: stored.handle, revision: stored.revision)
        ) { $0.manifest.providers[stored.handle.bytes] = tag }
        return stored
    }

    /// Where tokens go, always; and every change, before and after.
    private func changes(from old: ProviderRecord?, to new: ProviderRecord) -> [AuditEvent.Detail] {
        var detail = [AuditEvent.Detail("name", new.name), AuditEvent.Detail("tokenEndpoint", new.tokenEndpoint)]
        guard let old else { return detail }
        for change in new.changes(from: old) {
            let field = change.field
            if field != "name", field != "tokenEndpoint" {
                detail.append(AuditEvent.Detail(field, change.current ?? (change.previous == nil ? "changed" : "none")))
            }
            guard change.previous != nil || change.current != nil else { continue }
            let capitalized = field.prefix(1).uppercased() + field.dropFirst()
            detail.append(AuditEvent.Detail("previous\(capitalized)", change.previous ?? "none"))
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
        try changeVault(
            AuditEvent(.providerRemoved, [AuditEvent.Detail("name", old.record.name)]),
            about: AuditSubject(provider: handle, revision: old.revision + 1)
        ) { $0.manifest.providers[handle.bytes] = nil }
    }
}
