import VaultCrypto

extension Reader {
    package func statistics() throws(StoreError) -> StoreStatistics {
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

    /// Rows are numbered without a gap, so that nothing need be counted: the table is the biggest of all.
    private func auditCount() throws(StoreError) -> Int {
        guard let first = try tables.integer(.firstAudited) else { return 0 }
        // A row that was edited may have any number.
        let (count, isBeyond) = try auditHead().subtractingReportingOverflow(first - (first == .min ? 0 : 1))
        return isBeyond ? .max : Int(clamping: count)
    }

    /// The moment whose state the last finished backup holds.
    package func lastBackupAt() throws(StoreError) -> Timestamp? {
        try backups().compactMap(\.record).filter { $0.finishedAt != nil }.map(\.madeAt).max()
    }

    private func count(_ table: Table) throws(StoreError) -> Int { Int(clamping: try tables.count(table)) }
}

extension Query {
    fileprivate static let firstAudited = select([.least(Table.audit["sequence"])], from: .audit)
    fileprivate static let doubts = select(
        [.count], from: .refreshIntent, where: [.isNotNull(Table.refreshIntent["doubtSince"])])
}
