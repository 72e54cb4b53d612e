package import VaultCrypto

/// Replaces the index key, in transactions that each leave a complete vault.
///
/// During the replacement the keyring has two index keys: rows are written under the new one, and looked up under both.
/// Only the content of a row's cell shows which key made the row's index. So each replacement, and each that continues
/// one, examines every row once. That is enough: after the commit that makes the new key, no process writes a row under
/// the former one, because each process checks the vault's row before it writes.
extension WriteTransaction {
    /// The result of one batch of a replacement.
    package struct Reindexed: Sendable {
        package internal(set) var moved = IndexedRows()
        package internal(set) var unreadable = IndexedRows()
        package internal(set) var looked = 0
        /// The last row that was examined; nil if there was none.
        package internal(set) var last: Int64?
    }

    /// Makes a new index key. Does nothing if a former one must still be retired.
    package func beginIndexReplacement() throws(StoreError) -> Bool {
        let keyring = rows.keyring
        guard keyring.formerIndexKey == nil else { return false }
        let time = now().milliseconds
        let new = try sealing { () throws(VaultCryptoError) in try keyring.replacingIndexKey(at: time) }
        try changeVault(replacement("begun")) { $0.keyring = new }
        return true
    }

    /// The former key, which finds the rows that were not moved yet; nil if no replacement is under way.
    package var formerIndexKey: KeyID? { rows.keyring.formerIndexKey?.id }

    /// Retires a former index key after every row was examined. It does not touch another one: in that case another
    /// process has completed this replacement and begun the next.
    package func retireIndexKey(_ former: KeyID) throws(StoreError) {
        guard formerIndexKey == former else { return }
        let new = rows.keyring.droppingFormerIndexKey
        try changeVault(replacement("retired")) { $0.keyring = new }
    }

    private func replacement(_ phase: String) -> AuditEvent {
        AuditEvent(.indexKeyReplaced, [AuditEvent.Detail("phase", phase)])
    }

    // MARK: Users and pending log-ins
    // The cell is bound to the index, so it is resealed with it.

    /// Gives users a new index. One that does not open stays as it is. The trail records nothing about them, because
    /// neither their revisions nor their contents change.
    package func reindexUsers(after row: Int64, limit: Int) throws(StoreError) -> Reindexed {
        guard row < .max else { return Reindexed() }
        let primary = rows.keyring.primaryRoot
        var result = Reindexed()
        var moved: [(row: Int64, index: BlindIndex, cell: [UInt8])] = []
        let users = try tables.cursor(.users)
        do {
            defer { users.reset() }
            users.bind(1, row + 1)
            users.bind(2, Int64(limit))
            while try users.step() {
                result.looked += 1
                result.last = users.integer(0)
                guard let index = try missingIndex(ofUser: users) else {
                    result.unreadable.users += 1
                    continue
                }
                guard index.bytes != users.bytes16(2) else { continue }
                guard let cell = try reseal(users, under: primary, index: index) else {
                    result.unreadable.users += 1
                    continue
                }
                moved.append((users.integer(0), index, cell))
            }
        }
        let update = try tables.cursor(.reindexUser)
        for (row, index, cell) in moved {
            update.bind(1, row)
            update.bind(2, index.bytes)
            update.bind(3, primary.id.bytes)
            update.bind(4, cell)
            try update.run()
        }
        result.moved.users = moved.count
        return result
    }

    /// The index that a user's row must get; nil if the row does not open, or if its current index was never valid.
    private func missingIndex(ofUser row: any RowCursor) throws(StoreError) -> BlindIndex? {
        do throws(StoreError) {
            let columns = try UserColumns(row)
            return try opener.withUser(row, columns) { view in
                let indexes = unsafe rows.keyring.blindIndexes(of: view.userId, domain: .userId)
                return indexes.contains(columns.blindIndex) ? indexes.current : nil
            }
        } catch {
            guard error.isOfRow else { throw error }
            return nil
        }
    }

    /// Gives log-ins that were begun and not completed a new index.
    package func reindexAuthorizationRequests(after row: Int64, limit: Int) throws(StoreError) -> Reindexed {
        guard row < .max else { return Reindexed() }
        var result = Reindexed()
        var moved: [(row: Int64, index: BlindIndex, cell: [UInt8])] = []
        let requests = try tables.cursor(.authorizationRequests)
        do {
            defer { requests.reset() }
            requests.bind(1, row + 1)
            requests.bind(2, Int64(limit))
            while try requests.step() {
                result.looked += 1
                result.last = requests.integer(3)
                guard let record = try? opener.authorizationRequest(requests), let found = requests.bytes16(0) else {
                    result.unreadable.authorizationRequests += 1
                    continue
                }
                let indexes = rows.keyring.blindIndexes(ofState: record.state)
                guard indexes.contains(BlindIndex(found)) else {
                    result.unreadable.authorizationRequests += 1
                    continue
                }
                guard indexes.current.bytes != found else { continue }
                moved.append((requests.integer(3), indexes.current, try seal(record, under: indexes.current)))
            }
        }
        let update = try tables.cursor(.reindexRequest)
        for (row, index, cell) in moved {
            update.bind(1, row)
            update.bind(2, index.bytes)
            update.bind(3, cell)
            try update.run()
        }
        result.moved.authorizationRequests = moved.count
        return result
    }

    // MARK: Providers

    /// Gives providers a new index. Their cells are not bound to it.
    package func reindexProviders(after row: Int64, limit: Int) throws(StoreError) -> Reindexed {
        guard row < .max else { return Reindexed() }
        var result = Reindexed()
        var moved: [(row: Int64, index: BlindIndex)] = []
        let page = try tables.cursor(.providerPage)
        do {
            defer { page.reset() }
            page.bind(1, row + 1)
            page.bind(2, Int64(limit))
            while try page.step() {
                result.looked += 1
                result.last = page.integer(4)
                guard let provider = try? opener.provider(page) else {
                    result.unreadable.providers += 1
                    continue
                }
                let index = providers.index(of: provider.record.name)
                // A provider without an index gets one elsewhere: another provider may have its name.
                if page.isNull(3) || page.bytes16(3) == index.bytes { continue }
                moved.append((page.integer(4), index))
            }
        }
        let update = try tables.cursor(.reindexProvider)
        for (row, index) in moved {
            update.bind(1, row)
            update.bind(2, index.bytes)
            try update.run()
        }
        result.moved.providers = moved.count
        return result
    }
}

extension Reader {
    /// When the index key was made, and whether a replacement is under way.
    package func indexKeyStatus() throws(StoreError) -> IndexKeyStatus {
        let keyring = try opener.vaultRow().keyring
        return IndexKeyStatus(
            madeAt: keyring.indexMadeAt.map { Timestamp(milliseconds: $0) },
            isReplacing: keyring.formerIndexKey != nil)
    }
}

extension Query {
    fileprivate static let reindexUser = update(
        .user, "blindIndex", "rootKey", "cell", first: 2, where: [.equal(Table.user["id"], 1)])

    fileprivate static let reindexRequest = update(
        .authorizationRequest, "stateIndex", "cell", first: 2, where: [.equal(Table.authorizationRequest["id"], 1)])

    fileprivate static let reindexProvider = update(
        .provider, "nameIndex", first: 2, where: [.equal(Table.provider["id"], 1)])
}
