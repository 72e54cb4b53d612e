package import VaultCrypto

/// Rotates the root key, in transactions that each leave a complete vault.
///
/// The state of the rotation is only in the vault: the keyring has roots that only open cells, and rows are sealed
/// under them. After the commit that makes the new root, no process seals a row under another one, because each process
/// checks the vault's row before it writes. So one pass over the rows is enough.
extension WriteTransaction {
    /// Makes a new primary root. Does nothing if roots must still be retired.
    package func beginRootRotation() throws(StoreError) -> Bool {
        let keyring = rows.keyring
        guard keyring.retiredRoots.isEmpty else { return false }
        let made = now().milliseconds
        let new = try sealing { () throws(VaultCryptoError) in try keyring.addingPrimaryRoot(madeAt: made) }
        try changeVault(rotation("begun", new.primaryRoot.id)) { $0.keyring = new }
        return true
    }

    /// Goes back to the previous primary root. Cells under the new one must be sealed back.
    package func abortRootRotation() throws(StoreError) {
        let keyring = rows.keyring
        guard let former = keyring.retiredRoots.last else {
            throw StoreError(.conflict, "no rotation of the root key is under way")
        }
        let new = keyring.restoringRoot(former.id)
        try changeVault(rotation("aborted", former.id)) { $0.keyring = new }
    }

    /// The result of one batch of a rotation.
    package struct Resealed: Sendable {
        package internal(set) var cells = RootSealedCells()
        package internal(set) var unreadable = RootSealedCells()
        /// The last row that was examined; nil if there was none.
        package internal(set) var last: Int64?
    }

    /// The cell bytes that one transaction processes: this takes some milliseconds.
    private static let mostBytes = 1 << 20

    /// Reseals users that are sealed under `root`. A user that does not open stays as it is.
    ///
    /// The trail records nothing about them, because neither their revisions nor their contents change.
    package func resealUsers(
        under root: KeyID, after row: Int64, limit: Int
    ) throws(StoreError) -> Resealed {
        let primary = rows.keyring.primaryRoot
        var result = Resealed()
        var cells: [(row: Int64, cell: [UInt8])] = []
        let users = try tables.cursor(.usersUnderRoot)
        do {
            defer { users.reset() }
            users.bind(1, root.bytes)
            users.bind(2, row)
            users.bind(3, Int64(limit))
            var byteCount = 0
            while byteCount < Self.mostBytes, try users.step() {
                result.last = users.integer(0)
                guard let cell = try reseal(users, under: primary) else {
                    result.unreadable.users += 1
                    continue
                }
                byteCount += cell.count
                cells.append((users.integer(0), cell))
            }
        }
        let update = try tables.cursor(.moveUser)
        for (row, cell) in cells {
            update.bind(1, row)
            update.bind(2, primary.id.bytes)
            update.bind(3, cell)
            try update.run()
        }
        result.cells.users = cells.count
        return result
    }

    /// - Parameter index: The user's new index; nil to keep the old one.
    func reseal(
        _ row: any RowCursor, under primary: SealingKey, index: BlindIndex? = nil
    ) throws(StoreError) -> [UInt8]? {
        guard var columns = try? UserColumns(row), let key = try? context.root(columns.rootKey) else { return nil }
        let cell = unsafe row.blob(UserColumns.cellColumn)
        let opened = unsafe try? SealedCell.Opened(
            cell, kind: .user, key: key, associatedData: columns.associatedData(context.vaultID),
            scratch: opener.scratch)
        guard let opened else { return nil }
        defer { opened.wipe(opener.scratch) }
        columns.rootKey = primary.id
        columns.blindIndex = index ?? columns.blindIndex
        let data = columns.associatedData(context.vaultID)
        return try sealing { () throws(VaultCryptoError) in
            try unsafe SealedCell.seal(opened.plaintext, kind: .user, key: primary, associatedData: data)
        }
    }

    // MARK: Everything else that a root seals

    /// Reseals the cells of a table without users. The manifest lists the new cells of providers.
    package func resealRest(of name: Table, after last: Int64, limit: Int) throws(StoreError) -> Resealed {
        guard last < .max, let table = RootSealedTable.all.first(where: { $0.table == name }) else { return Resealed() }
        let primary = rows.keyring.primaryRoot
        var result = Resealed()
        var moved: [(row: Int64, cell: [UInt8])] = []
        var tags: [Bytes16: CellTag] = [:]
        let cells = try tables.cursor(table.query)
        do {
            defer { cells.reset() }
            cells.bind(1, last + 1)
            cells.bind(2, Int64(limit))
            while try cells.step() {
                let row = cells.integer(table.keyColumn)
                result.last = row
                let key = unsafe try? SealedCell.keyID(of: cells.blob(table.cellColumn), kind: table.kind)
                if key == primary.id { continue }
                guard let key, let cell = try reseal(cells, table, key, under: primary) else {
                    result.unreadable.add(of: name)
                    continue
                }
                moved.append((row, cell))
                if name == .provider, let handle = cells.bytes16(0) {
                    tags[handle] = try sealing { () throws(VaultCryptoError) in try SealedCell.tag(of: cell) }
                }
            }
        }
        let update = try tables.cursor(table.update)
        for (row, cell) in moved {
            update.bind(1, row)
            update.bind(2, cell)
            try update.run()
        }
        result.cells.add(moved.count, of: name)
        if !tags.isEmpty {
            let known = tags
            try changeVault(rotation("providers", primary.id)) { row in
                for (handle, tag) in known { row.manifest.providers[handle] = tag }
            }
        }
        return result
    }

    private func reseal(
        _ row: any RowCursor, _ table: RootSealedTable, _ id: KeyID, under primary: SealingKey
    ) throws(StoreError) -> [UInt8]? {
        guard let key = try? context.root(id), let data = associatedData(of: row, table) else { return nil }
        let opened = unsafe try? SealedCell.Opened(
            row.blob(table.cellColumn), kind: table.kind, key: key, associatedData: data, scratch: opener.scratch)
        guard let opened else { return nil }
        defer { opened.wipe(opener.scratch) }
        return try sealing { () throws(VaultCryptoError) in
            try unsafe SealedCell.seal(opened.plaintext, kind: table.kind, key: primary, associatedData: data)
        }
    }

    /// The associated data of the row's cell. Nil for a provider that the manifest does not list in this state:
    /// resealing it would make an old row look new.
    private func associatedData(of row: any RowCursor, _ table: RootSealedTable) -> AssociatedData? {
        guard let handle = row.bytes16(0) else { return nil }
        switch table.table {
        case .provider:
            guard (try? opener.provider(row)) != nil else { return nil }
            return ProviderRecord.associatedData(
                context.vaultID, ProviderHandle(handle), revision: row.integer(1))
        case .authorizationRequest:
            return AuthorizationRequestRecord.associatedData(
                context.vaultID, BlindIndex(handle), expiresAt: Timestamp(milliseconds: row.integer(1)))
        default:
            return OutboxRecord.associatedData(
                context.vaultID, OutboxHandle(handle), nextAttemptAt: Timestamp(milliseconds: row.integer(1)),
                attempts: row.integer(2))
        }
    }

    // MARK: The end

    /// Retires the roots under which nothing is sealed, except these. Returns the retired ones.
    package func retireRoots(except kept: Set<KeyID>) throws(StoreError) -> [KeyID] {
        let keyring = rows.keyring
        for table in RootSealedTable.all {
            guard try table.count(tables, otherThan: keyring.primaryRoot.id) == 0 else { return [] }
        }
        var retired: [KeyID] = []
        for root in keyring.retiredRoots where !kept.contains(root.id) {
            let rest = try tables.cursor(.usersUnderRoot)
            let isEmpty = try rest.withBinding(1, root.id.bytes) { () throws(StoreError) in
                rest.bind(2, .min)
                rest.bind(3, 1)
                return try !rest.step()
            }
            guard isEmpty else { continue }
            let new = rows.keyring.droppingRoot(root.id)
            try changeVault(rotation("retired", root.id)) { $0.keyring = new }
            retired.append(root.id)
        }
        return retired
    }

    func rotation(_ phase: String, _ root: KeyID) -> AuditEvent {
        AuditEvent(
            .rootKeyRotated,
            [AuditEvent.Detail("phase", phase), AuditEvent.Detail("root", Base32.encode(root.bytes))])
    }
}

extension Query {
    fileprivate static let moveUser = update(
        .user, "rootKey", "cell", first: 2, where: [.equal(Table.user["id"], 1)])
}
