package import VaultStorage

extension SQLiteVaultStore {
    package func perform(
        _ prefetchHint: PrefetchHint, _ body: @escaping @Sendable (WriteTransaction) throws -> Void
    ) async throws {
        try database.liveness.check()
        if let readOnlyRefusal { throw readOnlyRefusal }
        do { try await writer.perform(prefetchHint, body) } catch let error as StoreError {
            // Connections made after that are read-only, and cannot report a failed disk.
            let isFailedDisk = error.code == .readOnly && VaultFile.hasTurnedReadOnly(database.path + ".lock")
            throw isFailedDisk ? .turnedReadOnly : error
        }
    }

    package func removeRemnants() async -> Remnants {
        if database.liveness.isLost { return .kept(.ownershipLost) }
        return await withCheckedContinuation { continuation in
            writer.submit(RemnantOperation(database.path, continuation))
        }
    }
}
