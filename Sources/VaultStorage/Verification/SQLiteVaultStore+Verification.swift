import VaultCrypto

extension SQLiteVaultStore {
    package func verify(_ progress: (VerificationProgress) -> Void) throws(StoreError) -> VerificationReport {
        // A connection of its own: the readers' stay free for readers.
        let connection = try Connection(path: context.path)
        try connection.configure(isReader: true)
        return try VaultCheck(connection, context).run(progress)
    }
}
