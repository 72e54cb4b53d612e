package import VaultStorage

extension SQLiteVaultStore {
    package func write<R: Sendable>(
        _ body: @escaping @Sendable (WriteTransaction) throws -> R
    ) async throws -> R {
        try database.liveness.check()
        if let readOnlyRefusal { throw readOnlyRefusal }
        return try await writer.write(body)
    }

    package func removeRemnants() async -> Remnants {
        if database.liveness.isLost { return .kept(.ownershipLost) }
        return await withCheckedContinuation { continuation in
            writer.submit(RemnantOperation(database.path, continuation))
        }
    }
}
