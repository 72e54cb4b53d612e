import VaultCrypto

/// Reads the vault's content. One thread uses it at a time.
package final class Reader: @unchecked Sendable {
    package let tables: any TableAccess
    package let context: VaultContext
    let opener: RowOpener
    /// The hot queries, after their first use: preparing one takes longer than a hundred reads.
    private var ofUser: (any RowCursor)?
    private var ofUserWithKeys: (any RowCursor)?
    private var ofLogin: (any RowCursor)?
    private var ofLoginWithKey: (any RowCursor)?
    /// The end of the audit trail that was known before the current snapshot. The snapshot does not contain later
    /// commits, so they do not make it old.
    private(set) var headKnownAtBegin: Int64?

    package init(_ tables: any TableAccess, _ context: VaultContext) throws(StoreError) {
        self.tables = tables
        self.context = context
        opener = try RowOpener(tables, context, cache: context.manifestParts)
    }

    @inline(__always)
    func sessionsOfUser(_ withKeys: Bool) throws(StoreError) -> any RowCursor {
        if let cursor = withKeys ? ofUserWithKeys : ofUser { return cursor }
        let cursor = try tables.cursor(withKeys ? .sessionsAndKeysOfUser : .sessionsOfUser)
        if withKeys { ofUserWithKeys = cursor } else { ofUser = cursor }
        return cursor
    }

    @inline(__always)
    func sessionOfLogin(_ withKey: Bool) throws(StoreError) -> any RowCursor {
        if let cursor = withKey ? ofLoginWithKey : ofLogin { return cursor }
        let cursor = try tables.cursor(withKey ? .sessionAndKeyOfLogin : .sessionOfLogin)
        if withKey { ofLoginWithKey = cursor } else { ofLogin = cursor }
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

    /// Checks a state that this process sees for the first time, of a user whose cell is open. It must not be older
    /// than a state that this process knows or that the audit trail records. Someone may have put the row alone back
    /// before this process began.
    private func requireNewest(_ user: UserColumns) throws(StoreError) {
        if let known = context.seen.revision(of: user.handle), known > user.revision {
            opener.reading.mark = known
            throw .isOlderThanSeen(user.handle)
        }
        if let later = try AuditTrail(opener).laterRevision(than: user) {
            // Outside of a snapshot the change may have been committed since the row was read.
            opener.reading.mark = later
            throw .isOlderThanTold(user.handle)
        }
        context.seen.note(user.handle, user.revision)
    }

    /// Runs `body`, and again if it read something older than a known state: that state may have become known only
    /// since the reading began. Data that is behind the same mark twice is really older, because the mark existed
    /// before the second reading.
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

    /// The known state that the data is behind; nil if the data was not older.
    private func mark(behindWhich error: any Error) -> Int64? {
        (error as? StoreError)?.code == .rollbackSuspected ? opener.reading.mark : nil
    }

    /// Runs several queries that see one state of the vault. Keep it short. A nested call joins the outer one.
    package func withSnapshot<R>(_ body: () throws(StoreError) -> R) throws(StoreError) -> R {
        if opener.reading.isInSnapshot { return try body() }
        opener.reading.isInSnapshot = true
        defer { opener.reading.isInSnapshot = false }
        headKnownAtBegin = context.seen.auditHead
        defer { headKnownAtBegin = nil }
        return try tables.snapshot(body)
    }

    /// Runs a body with several queries, and again in a snapshot if something looks damaged: the result sets may be of
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
