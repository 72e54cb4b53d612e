import VaultCrypto

extension Reader {
    func statistics() throws(StoreError) -> StoreStatistics {
        StoreStatistics(
            vaultID: Base32.encode(context.vaultID),
            schemaVersion: Int(try connection.integer("PRAGMA user_version")),
            incarnation: context.incarnation, createdAt: context.createdAt,
            users: try count("user"), logins: try count("login"), providers: try count("provider"),
            keySlots: try count("keySlot"), openIntents: try count("refreshIntent"),
            pendingRevocations: try count("outbox"), authorizationRequests: try count("authorizationRequest"),
            auditRows: try auditCount(),
            databaseBytes: try connection.integer("PRAGMA page_count") * connection.integer("PRAGMA page_size"),
            sqliteVersion: SQLiteLibrary.version, sqliteSourceID: SQLiteLibrary.sourceID,
            isSQLiteAffectedByWALReset: SQLiteLibrary.isAffectedByWALReset, sodiumVersion: Sodium.version,
            lockedMemory: LockedMemoryState.current)
    }

    func depths() throws(StoreError) -> StoreDepths {
        StoreDepths(
            openIntents: try count("refreshIntent"),
            inDoubt: Int(try connection.integer("SELECT count(doubtSince) FROM refreshIntent")),
            outbox: try count("outbox"))
    }

    /// Rows are numbered without a gap, so that nothing need be counted: the table is the biggest of all.
    private func auditCount() throws(StoreError) -> Int {
        let row = try connection.statement("SELECT min(sequence) FROM audit")
        defer { row.reset() }
        guard try row.step(), let first = row.optionalInteger(0) else { return 0 }
        // A row that was edited may have any number.
        let (count, isBeyond) = try auditHead().subtractingReportingOverflow(first - (first == .min ? 0 : 1))
        return isBeyond ? .max : Int(clamping: count)
    }

    func count(_ table: String) throws(StoreError) -> Int {
        Int(try connection.integer("SELECT count(*) FROM \(table)"))
    }
}
