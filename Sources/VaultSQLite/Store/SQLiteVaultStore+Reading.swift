package import VaultStorage

extension SQLiteVaultStore: VaultStore {
    /// Each query is answered at once, so there is nothing to prefetch.
    package func read<R>(
        _ prefetchHint: PrefetchHint, _ body: (Reader) throws(StoreError) -> R
    ) async throws(StoreError) -> R {
        try readers.read(body)
    }

    package func survey<R: Sendable>(_ body: @escaping @Sendable (Reader) throws -> R) async throws -> R {
        // A fork has no other threads.
        try database.liveness.check()
        return try await BlockingLane.care.run { [readers] in try readers.survey(body) }
    }

    /// Loads a root key that another process has made since. If the vault cannot be read, the known keys stay.
    func checkForNewKeys() { try? readers.read { reader throws(StoreError) in try reader.checkForNewKeys() } }

    package var owner: Int64 { ownerLock.owner }

    package var ownsItsLock: Bool { ownerLock.isHeld }
    package var lockLoss: StoreError { .ownershipLost }

    package var longestWayToRequest: Duration? { nil }
    package var longestRenewal: Duration? { nil }

    /// Whether the process with that name lives.
    package func isOwnerAlive(_ owner: Int64) -> Bool { ownerLock.isAlive(owner) }
}
