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
            auditRows: try count("audit"),
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

    func count(_ table: String) throws(StoreError) -> Int {
        Int(try connection.integer("SELECT count(*) FROM \(table)"))
    }
}
