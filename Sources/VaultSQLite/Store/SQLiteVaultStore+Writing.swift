package import VaultStorage

extension SQLiteVaultStore {
    package func perform(
        _ foresight: Foresight, _ body: @escaping @Sendable (WriteTransaction) throws -> Void
    ) async throws {
        try database.liveness.check()
        if let readOnlyRefusal { throw readOnlyRefusal }
        try await writer.perform(foresight, body)
    }

    package func removeRemnants() async -> Remnants {
        if database.liveness.isLost { return .kept(.ownershipLost) }
        return await withCheckedContinuation { continuation in
            writer.submit(RemnantOperation(database.path, continuation))
        }
    }
}
