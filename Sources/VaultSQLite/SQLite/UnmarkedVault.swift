import VaultCrypto
import VaultStorage

/// A vault from before marks existed, which says nothing about its WAL. A WAL that was not written for it leaves
/// traces.
enum UnmarkedVault {
    /// Throws if something cannot be read: that is no reason to refuse the vault, and none to continue.
    static func fitsItsLog(_ connection: Connection, _ file: VaultFile) throws(StoreError) -> Bool {
        let log = WALFile.commits(besideVaultAt: file.path)
        // A commit that changes the number of pages includes the first page, where SQLite reads the number.
        if !log.databaseSizes.isEmpty, !log.databaseSizes.contains(try connection.integer("PRAGMA page_count")) {
            return false
        }
        if let counters = log.changeCounters {
            // SQLite adds one whenever it writes the first page, or nothing if the same connection wrote it last. A
            // file that the WAL was written for has the number from just before it, or one that was copied from it.
            let counter = try connection.changeCounterOfFile()
            guard counter >= counters.lowerBound - 1, counter <= counters.upperBound else { return false }
        }
        if let alone = try? vaultID(Connection(path: file.path, access: .immutable)),
            let seen = try? vaultID(connection), alone != seen
        {
            return false
        }
        do throws(StoreError) { return try IntegrityCheck(connection, "1").next() == nil } catch {
            guard error.code == .damaged else { throw error }
            return false
        }
    }

    private static func vaultID(_ connection: Connection) throws(StoreError) -> Bytes16? {
        let row = try Statement(connection, "SELECT vaultID FROM vault WHERE id = 1")
        return try row.step() ? row.bytes16(0) : nil
    }
}
