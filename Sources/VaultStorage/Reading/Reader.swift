import VaultCrypto

/// Reads what the vault holds. Used by one thread at a time.
package final class Reader: @unchecked Sendable {
    package let tables: any TableAccess
    package let context: VaultContext
    let opener: RowOpener
    /// The hot queries, once they have been asked: to prepare one takes longer than a hundred reads.
    private var ofUser: (any RowCursor)?
    private var ofLogin: (any RowCursor)?
    /// The end of the audit trail that was known before the snapshot that is being read. What is committed later is not in
    /// it, and is no reason to call it old.
    private(set) var headKnownAtBegin: Int64?

    package init(_ tables: any TableAccess, _ context: VaultContext) throws(StoreError) {
        self.tables = tables
        self.context = context
        opener = try RowOpener(tables, context, cache: context.manifestParts)
    }

    @inline(__always)
    func sessionsOfUser() throws(StoreError) -> any RowCursor {
        if let ofUser { return ofUser }
        let cursor = try tables.cursor(.sessionsOfUser)
        ofUser = cursor
        return cursor
    }

    @inline(__always)
    func sessionOfLogin() throws(StoreError) -> any RowCursor {
        if let ofLogin { return ofLogin }
        let cursor = try tables.cursor(.sessionOfLogin)
        ofLogin = cursor
        return cursor
    }

    /// Lends the open user cell of the row's user, who must be in their newest state.
    @inline(__always)
    func withUser<R>(
        _ row: any RowCursor, _ user: UserColumns, _ body: (UserCellView) throws(StoreError) -> R
    ) throws(StoreError) -> R {
        try opener.withUser(row, user) { view throws(StoreError) in
            if context.seen.revision(of: user.handle) != user.revision { try requireNewest(user) }
            return try body(view)
        }
    }

    /// A state that is met for the first time, of a user whose cell is open: not older than one that this process knows, nor
    /// than what the audit trail tells. A row alone may have been put back before this process began.
    private func requireNewest(_ user: UserColumns) throws(StoreError) {
        if let known = context.seen.revision(of: user.handle), known > user.revision {
            opener.reading.mark = known
            throw .isOlderThanSeen(user.handle)
        }
        if let later = try AuditTrail(opener).laterRevision(than: user) {
            // Outside of a snapshot it may have been committed since the row was read.
            opener.reading.mark = later
            throw .isOlderThanTold(user.handle)
        }
        context.seen.note(user.handle, user.revision)
    }

    /// Runs `body`, once more if what it read was older than what is known: that may be known only since the reading
    /// began. What falls behind the same mark twice is older, because the mark was there before the second reading.
    @inline(__always)
    package func readNewest<R, Failure>(_ body: (Reader) throws(Failure) -> R) throws(Failure) -> R {
        var mark: Int64?
        while true {
            do throws(Failure) { return try body(self) } catch {
                guard let met = self.mark(behindWhich: error), met != mark else { throw error }
                mark = met
            }
        }
    }

    /// What that which was read falls behind; nil if it was not older than what is known.
    private func mark(behindWhich error: any Error) -> Int64? {
        (error as? StoreError)?.code == .rollbackSuspected ? opener.reading.mark : nil
    }

    /// Several queries that see one state of the vault. To be kept short. One inside another is a part of it.
    package func withSnapshot<R>(_ body: () throws(StoreError) -> R) throws(StoreError) -> R {
        if opener.reading.isInSnapshot { return try body() }
        opener.reading.isInSnapshot = true
        defer { opener.reading.isInSnapshot = false }
        headKnownAtBegin = context.seen.auditHead
        defer { headKnownAtBegin = nil }
        return try tables.snapshot(body)
    }

    /// Runs a body that asks more than one query, once more in a snapshot if something looks damaged: the answers may be of
    /// two moments.
    @inline(__always)
    func consistently<R>(_ body: () throws(StoreError) -> R) throws(StoreError) -> R {
        do throws(StoreError) {
            let result = try body()
            if !opener.reading.isTorn { return result }
        } catch {
            guard opener.reading.isTorn || error.isOfRow, !opener.reading.isInSnapshot else { throw error }
        }
        opener.reading.isTorn = false
        return try withSnapshot(body)
    }
}
