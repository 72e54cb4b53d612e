import VaultCrypto

/// Opens the cells of a cursor's current row. The order of the columns is that of the shared queries.
struct RowOpener {
    let context: VaultContext
    let scratch: CellScratch
    let tables: any TableAccess
    /// The vault's row, as this reader or transaction sees it.
    let rows: VaultRowKeeper
    let reading = Reading()
    /// Parts of manifests that need not be read again; nil for a check that must read everything.
    private(set) var cache: ManifestPartCache?

    /// How the data that was read fits together.
    final class Reading {
        /// A number that identifies the stale state that the last read ran into.
        var mark: Int64?
        /// Whether everything that is read is of one moment.
        var isInSnapshot = false
        /// Whether something looked damaged outside of a snapshot, perhaps only because the data is of two moments.
        var isTorn = false
    }

    /// - Parameters:
    ///   - scratch: memory for open cells, if it is shared.
    ///   - rows: the rows of a transaction, which sees its own changes before others do.
    ///   - cache: the cache of a caller that need not read known parts again.
    init(
        _ tables: any TableAccess, _ context: VaultContext, scratch: CellScratch? = nil, rows: VaultRowKeeper? = nil,
        cache: ManifestPartCache? = nil
    ) throws(StoreError) {
        do throws(VaultCryptoError) { self.scratch = if let scratch { scratch } else { try CellScratch() } } catch {
            throw StoreError(.outOfMemory, error.message, hint: error.hint)
        }
        self.tables = tables
        self.context = context
        self.rows = rows ?? context.rows
        self.cache = cache
    }

    /// The same opener for a check of the stored data, which trusts nothing that was read before.
    func readingAnew() -> RowOpener {
        var opener = self
        opener.cache = nil
        return opener
    }

    /// The known keys, including those that this transaction has made.
    var keyring: Keyring { rows === context.rows ? context.keyring : rows.keyring }

    /// Notes that something looked damaged or missing without an error. Outside of a snapshot the data may be of
    /// several moments, because an open cursor does not hold the moment on each engine.
    func noteTear() {
        if !reading.isInSnapshot { reading.isTorn = true }
    }

    /// Whether a test holds under the known keys, or else under the keys that the vault has in this snapshot: another
    /// process may have replaced some.
    func holds(_ test: (Keyring) -> Bool) throws(StoreError) -> Bool {
        let known = keyring
        if test(known) { return true }
        let newest = try vaultRow().keyring
        return newest !== known && test(newest)
    }

    /// Whether an index is the right one for its row.
    func isIndex(_ index: Bytes16, _ indexes: (Keyring) -> BlindIndexes) throws(StoreError) -> Bool {
        try holds { indexes($0).contains(BlindIndex(index)) }
    }

    /// The root key that a cell names. An unknown one may be of a keyring that another process has made.
    @inline(__always)
    private func root(_ id: KeyID) throws(VaultCryptoError) -> SealingKey {
        if let key = context.keyring.root(for: id) { return key }
        _ = try? vaultRow()
        return try context.root(id)
    }

    /// The vault's row in this snapshot or transaction.
    @discardableResult
    func vaultRow() throws(StoreError) -> VaultRow {
        do throws(StoreError) { return try rows.look(tables, context) } catch {
            reading.mark = rows.current.revision
            throw error
        }
    }

    /// Refuses a provider's row that is not the one that the vault wrote last, such as an older version.
    func require(provider: Bytes16, _ tag: CellTag) throws(StoreError) {
        let row = try vaultRow()
        guard row.hasManifest, row.manifest.providers[provider] != tag else { return }
        throw .quarantined("provider", provider, "it is not the version that the vault's row lists")
    }

    /// Lends the open user cell of the row's user.
    @inline(__always)
    func withUser<R>(
        _ row: any RowCursor, _ columns: UserColumns, _ body: (UserCellView) throws(StoreError) -> R
    ) throws(StoreError) -> R {
        // What was opened before, of the same bytes.
        if let kept = row.openUserCell {
            defer { withExtendedLifetime(kept) {} }
            return try body(try unsafe Self.userView(kept.bytes, columns))
        }
        let opened: SealedCell.Opened
        do throws(VaultCryptoError) {
            let key = try root(columns.rootKey)
            opened = try unsafe SealedCell.Opened(
                row.blob(UserColumns.cellColumn), kind: .user, key: key,
                associatedData: columns.associatedData(context.vaultID), scratch: scratch)
        } catch {
            throw .quarantined("user", columns.handle.bytes, error)
        }
        defer { opened.wipe(scratch) }
        let view = try unsafe Self.userView(opened.plaintext, columns)
        unsafe row.keepUserCell(opened.plaintext)
        return try body(view)
    }

    @inline(__always)
    private static func userView(
        _ plaintext: UnsafeRawBufferPointer, _ columns: UserColumns
    ) throws(StoreError) -> UserCellView {
        do throws(VaultCryptoError) { return try unsafe UserCellView(plaintext) } catch {
            throw .quarantined("user", columns.handle.bytes, error)
        }
    }

    /// Lends the open user cell of a user's row. Returns `nil` if there is no such row, or if it cannot be opened.
    func user<R>(
        ofRow id: Int64, _ body: (UserColumns, UserCellView) throws(StoreError) -> R
    ) throws(StoreError) -> R? {
        let row = try tables.cursor(.userByRow)
        defer { row.reset() }
        row.bind(1, id)
        guard try row.step() else { return nil }
        do throws(StoreError) {
            let columns = try UserColumns(row)
            return try withUser(row, columns) { view throws(StoreError) in try body(columns, view) }
        } catch {
            guard error.isOfRow else { throw error }
            return nil
        }
    }

    /// The row's session, if the user cell names exactly this row.
    @inline(__always)
    func session(
        _ row: any RowCursor, _ columns: LoginColumns, _ user: UserColumns, _ view: UserCellView
    ) throws(StoreError) -> SessionRecord {
        let known = try entry(of: columns.handle, user, view)
        let cell = unsafe row.blob(LoginColumns.cellColumn)
        do throws(VaultCryptoError) {
            guard let entry = known else {
                throw VaultCryptoError(.authenticationFailed(.tag), "its user does not know it")
            }
            let tag = try unsafe SealedCell.tag(of: cell)
            guard entry.revision == columns.revision, tag == entry.tag else {
                throw VaultCryptoError(.authenticationFailed(.tag), "it is not the version that its user's cell lists")
            }
            let opened = try unsafe SealedCell.Opened(
                cell, kind: .session, key: view.dataKey, keyID: KeyID(user.handle.bytes),
                associatedData: columns.sessionData(context.vaultID, user.handle), scratch: scratch)
            defer { opened.wipe(scratch) }
            return try unsafe SessionRecord(opened.plaintext)
        } catch {
            throw .quarantined("login", columns.handle.bytes, error)
        }
    }

    /// The whole login of a row with all columns.
    func login(
        _ row: any RowCursor, _ columns: LoginColumns, _ user: UserColumns, _ view: UserCellView
    ) throws(StoreError) -> OpenLogin {
        let session = try session(row, columns, user, view)
        let refresh: RefreshRecord? = try unsafe secret(row, 19, .refresh, columns.refreshTag, columns, user, view) {
            bytes throws(VaultCryptoError) in try unsafe RefreshRecord(bytes)
        }
        let key = try keyRecord(row, 20, columns, user, view)
        let intent = try IntentRecord(row, self, login: columns.handle)
        guard !session.lacksDoubt(of: intent) else {
            throw .quarantined("refreshIntent", columns.handle.bytes, SessionRecord.lackingDoubt)
        }
        return OpenLogin(columns: columns, session: session, refresh: refresh, key: key, intent: intent)
    }

    /// The key of a row with its key cell after the login. Its tag is trusted once the session's cell, which is bound to
    /// it, has been opened.
    func key(
        _ row: any RowCursor, _ columns: LoginColumns, _ user: UserColumns, _ view: UserCellView
    ) throws(StoreError) -> KeyRecord? {
        try keyRecord(row, 19, columns, user, view)
    }

    private func keyRecord(
        _ row: any RowCursor, _ column: Int32, _ columns: LoginColumns, _ user: UserColumns, _ view: UserCellView
    ) throws(StoreError) -> KeyRecord? {
        try unsafe secret(row, column, .key, columns.keyTag, columns, user, view) {
            bytes throws(VaultCryptoError) in try unsafe KeyRecord(bytes)
        }
    }

    private func secret<Record>(
        _ row: any RowCursor, _ column: Int32, _ kind: CellKind, _ tag: CellTag?, _ columns: LoginColumns,
        _ user: UserColumns, _ view: UserCellView,
        _ read: (UnsafeRawBufferPointer) throws(VaultCryptoError) -> Record
    ) throws(StoreError) -> Record? {
        if tag == nil && row.isNull(column) { return nil }
        let cell = unsafe row.blob(column)
        do throws(VaultCryptoError) {
            guard !row.isNull(column), try unsafe SealedCell.tag(of: cell) == tag else {
                throw VaultCryptoError(.authenticationFailed(.tag), "it is not the one that its login knows")
            }
            let opened = try unsafe SealedCell.Opened(
                cell, kind: kind, key: view.dataKey, keyID: KeyID(user.handle.bytes),
                associatedData: columns.secretData(context.vaultID, user.handle), scratch: scratch)
            defer { opened.wipe(scratch) }
            return try unsafe read(opened.plaintext)
        } catch {
            throw .quarantined("loginSecret", columns.handle.bytes, error)
        }
    }

    /// A record that is sealed under a root key.
    func root<Record>(
        _ cell: UnsafeRawBufferPointer, _ kind: CellKind, table: String, handle: Bytes16,
        _ associatedData: borrowing AssociatedData,
        _ read: (UnsafeRawBufferPointer) throws(VaultCryptoError) -> Record
    ) throws(StoreError) -> Record {
        do throws(VaultCryptoError) {
            let key = try root(try unsafe SealedCell.keyID(of: cell, kind: kind))
            let opened = try unsafe SealedCell.Opened(
                cell, kind: kind, key: key, associatedData: associatedData, scratch: scratch)
            defer { opened.wipe(scratch) }
            return try unsafe read(opened.plaintext)
        } catch {
            throw .quarantined(table, handle, error)
        }
    }
}
