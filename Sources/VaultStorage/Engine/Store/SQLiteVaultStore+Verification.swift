import VaultCrypto

extension SQLiteVaultStore {
    package func verify(_ progress: (VerificationProgress) -> Void) throws(StoreError) -> VerificationReport {
        // A connection of its own: the readers' stay free for readers.
        try database.liveness.check()
        let connection = try database.connect()
        defer { connection.close(checkpointing: readers.checkpointsWhenLast) }
        try connection.configure(isReader: true)
        try place.checkDatabase()
        return try VaultCheck(connection, context, file: DatabaseCheck(connection: connection)).run(progress)
    }
}
