import VaultCrypto

extension Reader {
    package func statistics() throws(StoreError) -> StoreStatistics {
        try tables.longReading { () throws(StoreError) in try countEverything() }
    }

    private func countEverything() throws(StoreError) -> StoreStatistics {
        StoreStatistics(
            vaultID: Base32.encode(context.vaultID),
            incarnation: context.incarnation, createdAt: context.createdAt,
            users: try count(.user), logins: try count(.login), providers: try count(.provider),
            keySlots: try count(.keySlot), openIntents: try count(.refreshIntent),
            pendingRevocations: try count(.outbox), authorizationRequests: try count(.authorizationRequest),
            auditRows: try auditCount(), lastBackupAt: try lastBackupAt(),
            engine: try tables.facts(), sodiumVersion: Sodium.version,
            lockedMemory: LockedMemoryState.current)
    }

    package func loginCount() throws(StoreError) -> Int { try count(.login) }

    package func userCount() throws(StoreError) -> Int { try count(.user) }

    package func depths() throws(StoreError) -> StoreDepths {
        StoreDepths(
            openIntents: try count(.refreshIntent),
            inDoubt: Int(try tables.integer(.doubts) ?? 0),
            outbox: try count(.outbox), lastBackupAt: try lastBackupAt())
    }

    /// The number of rows of the trail. Rows after the last pruning are numbered without a gap, and the pruning records
    /// how many rows it kept. So nothing need be counted in the largest table.
    private func auditCount() throws(StoreError) -> Int {
        let pruning = try AuditTrail(opener).pruning()
        // An edited row may have any number.
        let (count, isBeyond) = try auditHead().subtractingReportingOverflow(pruning.through)
        let (all, isTooMany) = count.addingReportingOverflow(pruning.kept)
        return isBeyond || isTooMany ? .max : Int(clamping: all)
    }

    /// The moment of the state in the last finished backup.
    package func lastBackupAt() throws(StoreError) -> Timestamp? {
        try backups().compactMap(\.record).filter { $0.finishedAt != nil }.map(\.madeAt).max()
    }

    private func count(_ table: Table) throws(StoreError) -> Int { Int(clamping: try tables.count(table)) }
}

extension Query {
    fileprivate static let doubts = select(
        [.count], from: .refreshIntent, where: [.isNotNull(Table.refreshIntent["doubtSince"])])
}
