import VaultCrypto

extension WriteTransaction {
    var providers: ProviderRows { ProviderRows(tables: tables, opener: opener) }

    func put(_ record: ProviderRecord, replacing handle: ProviderHandle?) throws(StoreError) -> StoredProvider {
        guard let handle else { return try put(record, replacing: nil, telling: []) }
        let old = try providers.provider(handle)
        return try put(record, replacing: Replaced(old), telling: [])
    }

    /// Replaces a provider whose row is damaged. The new one gets the handle that the trail records, so that it keeps
    /// its logins even if the handle is damaged.
    func put(_ record: ProviderRecord, replacingDamaged place: DamagedRow.Place) throws(StoreError) -> StoredProvider {
        guard case .row(.provider, let id) = place else { throw .notFound(.provider) }
        guard let row = try damage.check(place) else { throw .isWhole(.row(.provider, id)) }
        guard let handle = try handleToldOfProvider(id, row.provider) ?? row.provider else {
            throw StoreError(
                .conflict, "nothing says which provider this was",
                hint: "discard the row, and add the provider anew")
        }
        if let damaged = row.provider, damaged != handle {
            let rename = try tables.cursor(.renameProvider)
            rename.bind(1, id)
            rename.bind(2, handle.bytes)
            try rename.run()
        }
        return try put(
            record, replacing: Replaced(handle: handle, revision: try lastRevision(of: handle), record: nil),
            telling: [.init("replaced", "damaged"), .init("reason", row.damage.message)])
    }

    /// Adds a provider from another vault, under the same handle.
    func put(_ record: ProviderRecord, as handle: ProviderHandle) throws(StoreError) {
        _ = try put(record, replacing: nil, named: handle, telling: [])
    }

    /// Changes a provider's current record, even if another process changed it last.
    ///
    /// - Parameter use: The use that was counted without the write lock.
    func update(
        _ handle: ProviderHandle, _ use: ProviderUse,
        _ body: (inout ProviderRecord, ProviderUse) throws -> [AuditEvent.Detail]
    ) throws -> StoredProvider {
        let old = try providers.provider(handle)
        var record = old.record
        let detail = try body(&record, try current(use, of: handle))
        guard record != old.record else { return old }
        return try put(record, replacing: Replaced(old), telling: detail)
    }

    /// A login may have been added since the logins were counted. Only whether there is one matters, and that is found
    /// at once.
    private func current(_ use: ProviderUse, of handle: ProviderHandle) throws(StoreError) -> ProviderUse {
        guard use.refreshableLogins == 0 else { return use }
        let query = try tables.cursor(.anyRefreshableLoginOfProvider)
        let isUsed = try query.withBinding(1, handle.bytes) { () throws(StoreError) in try query.step() }
        return ProviderUse(refreshableLogins: isUsed ? 1 : 0)
    }

    /// The provider that is replaced.
    private struct Replaced {
        let handle: ProviderHandle
        let revision: Int64
        /// `nil` if it was damaged.
        let record: ProviderRecord?

        init(handle: ProviderHandle, revision: Int64, record: ProviderRecord?) {
            self.handle = handle
            self.revision = revision
            self.record = record
        }

        init(_ old: StoredProvider) { self.init(handle: old.handle, revision: old.revision, record: old.record) }
    }

    private func put(
        _ record: ProviderRecord, replacing old: Replaced?, named handle: ProviderHandle = .random(),
        telling detail: [AuditEvent.Detail]
    ) throws(StoreError) -> StoredProvider {
        guard !record.name.isEmpty else { throw StoreError(.invalidValue, "a provider needs a name") }
        try nameProviders()
        try requireFree(record.name, except: old?.handle)
        let stored = StoredProvider(
            handle: old?.handle ?? handle, revision: (old?.revision ?? 0) + 1, record: record)
        let cell = try sealing { () throws(VaultCryptoError) in
            try SealedCell.seal(
                record.encoded(), kind: .provider, key: context.keyring.primaryRoot,
                associatedData: ProviderRecord.associatedData(
                    context.vaultID, stored.handle, revision: stored.revision))
        }
        let write = try tables.cursor(.putProvider)
        write.bind(1, stored.handle.bytes)
        write.bind(2, stored.revision)
        write.bind(3, cell)
        write.bind(4, providers.index(of: record.name).bytes)
        try write.run()
        let tag = try sealing { () throws(VaultCryptoError) in try SealedCell.tag(of: cell) }
        try changeVault(
            AuditEvent(
                old == nil ? .providerAdded : .providerUpdated, changes(from: old?.record, to: record) + detail),
            about: AuditSubject(provider: stored.handle, revision: stored.revision)
        ) { $0.manifest.providers[stored.handle.bytes] = tag }
        return stored
    }

    /// Fills in the index of providers that an older schema had without one.
    package func nameProviders() throws(StoreError) {
        for (row, provider) in try providers.unnamed() {
            // The index was removed, and another provider has taken the name since.
            guard try providers.row(named: provider.record.name) == nil else { continue }
            let update = try tables.cursor(.updateNameIndex)
            update.bind(1, row)
            update.bind(2, providers.index(of: provider.record.name).bytes)
            try update.run()
        }
    }

    private func requireFree(_ name: String, except handle: ProviderHandle?) throws(StoreError) {
        let holder = try providers.find(name) { holder throws(StoreError) in
            guard handle == nil || holder.bytes16(0) != handle?.bytes else { return (false, nil as String?) }
            guard (try? opener.provider(holder)) == nil else { return (true, nil) }
            return (true, holder.bytes16(0).map { Base32.encode($0) } ?? "provider#\(holder.integer(4))")
        }
        guard let (isTaken, damaged) = holder, isTaken else { return }
        if let damaged {
            throw StoreError(
                .conflict, "a damaged provider has this name",
                hint: "see it with `vaultctl damage show \(damaged)`, and replace or discard it")
        }
        throw StoreError(.conflict, "there is a provider of this name already", hint: "choose another name")
    }

    /// The last revision in the trail, which no damage to the row can change.
    func lastRevision(of handle: ProviderHandle) throws(StoreError) -> Int64 {
        let row = try tables.cursor(.lastRevisionOfProvider)
        let told = try row.withBinding(1, handle.bytes) { () throws(StoreError) in
            try row.step() ? row.optionalInteger(0) : nil
        }
        guard let told, (0..<Self.counterLimit).contains(told) else {
            throw StoreError(
                .conflict, "the audit trail does not know this provider",
                hint: "discard the row, and add the provider anew")
        }
        return told
    }

    /// The origins to which tokens go, always; and every change, before and after.
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
        let old = try providers.provider(handle)
        try requireUnused(handle, hint: "log these out or remove them first")
        let delete = try tables.cursor(.deleteProvider)
        delete.bind(1, handle.bytes)
        try delete.run()
        try changeVault(
            AuditEvent(.providerRemoved, [AuditEvent.Detail("name", old.record.name)]),
            about: AuditSubject(provider: handle, revision: old.revision + 1)
        ) { $0.manifest.providers[handle.bytes] = nil }
    }

    func requireUnused(_ handle: ProviderHandle, hint: String) throws(StoreError) {
        guard try !tables.hasLogins(of: handle) else {
            throw StoreError(.providerInUse, "the provider still has logins", hint: hint)
        }
    }
}

extension Query {
    fileprivate static let putProvider = insert(
        into: .provider, "handle", "revision", "cell", "nameIndex", onConflict: .updates(by: "handle"))

    fileprivate static let renameProvider = update(
        .provider, "handle", first: 2, where: [.equal(Table.provider["id"], 1)])

    fileprivate static let updateNameIndex = update(
        .provider, "nameIndex", first: 2, where: [.equal(Table.provider["id"], 1)])

    fileprivate static let deleteProvider = delete(from: .provider, where: [.equal(Table.provider["handle"], 1)])

    fileprivate static let lastRevisionOfProvider = select(
        [.greatest(Table.audit["revision"])], from: .audit, where: [.equal(Table.audit["provider"], 1)])
}
