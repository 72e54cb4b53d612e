import VaultCrypto
import VaultStorage

/// Ties a WAL to its database file.
///
/// SQLite replays a WAL over whatever database file is next to it: its checksums cover the WAL alone. So the vault has
/// a mark, which the first commit of a new WAL replaces, at a moment when the database file holds everything before it.
/// However much an interrupted checkpoint has copied, the file then has this mark or the previous one. With any other
/// mark, either the file or the WAL comes from a copy.
struct WALMark: Equatable {
    let mark: Bytes16
    /// Zero in a vault whose WAL has never restarted.
    let previous: Bytes16
    /// SQLite's count of schema changes when the mark was made; 0 if it is unknown. `VACUUM INTO` adds one, SQLite's
    /// other ways to copy start over: their pages are not laid out like those of the vault.
    let schemaCookie: Int64

    /// Replaces the mark. Call it in a write transaction that sees the database file's contents: in an empty WAL, or in
    /// one that has been copied completely.
    /// - Returns: whether there was a mark to replace.
    static func replace(_ connection: Connection) throws(StoreError) -> Bool {
        let cookie = try connection.integer("PRAGMA schema_version")
        let update = try connection.statement(
            "UPDATE walMark SET previous = mark, mark = ?1, schemaCookie = ?2 WHERE id = 1")
        update.bind(1, SecureRandom.bytes16())
        update.bind(2, cookie)
        try update.run()
        return connection.changeCount == 1
    }

    // MARK: At the opening

    /// Refuses a database file whose WAL was not written for it, before anything is read through the WAL.
    ///
    /// Only certain evidence counts: a file that a checkpoint has changed by half, and one from before marks existed,
    /// are left to SQLite.
    /// - Parameter connection: to the vault, outside a transaction.
    static func check(_ connection: Connection, _ file: VaultFile) throws(StoreError) {
        // If SQLite reads the file alone, the WAL has been found empty.
        guard connection.access != .immutable else { return }
        if try belongTogether(connection, file) { return }
        // Another process may have advanced the WAL between the two reads. While the write lock is held, none does.
        let isHeld: Bool
        do throws(StoreError) {
            try connection.execute("BEGIN IMMEDIATE")
            isHeld = true
        } catch {
            guard error.code == .readOnly else { throw error }
            isHeld = false
        }
        defer { if isHeld { try? connection.execute("ROLLBACK") } }
        if try !belongTogether(connection, file) { throw Self.foreignWAL(file.path) }
    }

    /// - Parameter connection: may hold the write lock and so keep others from writing. If it does not, `false` may be
    ///   premature.
    static func belongTogether(_ connection: Connection, _ file: VaultFile) throws(StoreError) -> Bool {
        // Also true when the last process has just closed the vault and moved all of the WAL into the file.
        guard WALFile.size(besideVaultAt: file.path) > WALFile.headerSize else { return true }
        let seen: Look?
        do throws(StoreError) { seen = try Look(connection) } catch {
            guard error.code == .damaged else { return true }
            seen = nil
        }
        if let seen, seen.isUnmarkedVault { return try UnmarkedVault.fitsItsLog(connection, file) }
        guard let found = try? Look(Connection(path: file.path, access: .immutable)) else { return true }
        guard let seen, let mark = seen.mark else {
            // The WAL has foreign pages before the file's own.
            return found.mark == nil
        }
        guard found.hasTable else { return mark.previous == .zero }
        guard let base = found.mark else { return true }
        guard base.mark == mark.mark || base.mark == mark.previous else { return false }
        if mark.schemaCookie == 0 || found.cookie == mark.schemaCookie { return true }
        // A schema change in the WAL may have been copied, completely or up to one of its steps.
        return found.cookie > mark.schemaCookie && found.cookie <= seen.cookie
            && WALFile.holdsFirstPage(besideVaultAt: file.path)
    }

    /// One connection's view.
    private struct Look {
        let hasTable: Bool
        let isUnmarkedVault: Bool
        /// `nil` if there is no complete one.
        let mark: WALMark?
        let cookie: Int64

        init(_ connection: Connection) throws(StoreError) {
            try connection.prepareForInspection()
            cookie = try connection.integer("PRAGMA schema_version")
            hasTable = try connection.integer("SELECT count(*) FROM sqlite_schema WHERE name = 'walMark'") > 0
            let isVault = try connection.integer("PRAGMA application_id") == Connection.applicationID
            isUnmarkedVault = isVault && !hasTable
            mark = hasTable ? try Self.row(connection) : nil
        }

        private static func row(_ connection: Connection) throws(StoreError) -> WALMark? {
            let row = try Statement(connection, "SELECT mark, previous, schemaCookie FROM walMark WHERE id = 1")
            guard try row.step(), let mark = row.bytes16(0), let previous = row.bytes16(1) else { return nil }
            return WALMark(mark: mark, previous: previous, schemaCookie: row.integer(2))
        }
    }

    private static func foreignWAL(_ path: String) -> StoreError {
        StoreError(
            .rollbackSuspected,
            "the vault's file and the write-ahead log beside it do not belong together: one of them comes from a copy",
            hint: "nothing was changed. To use the file without the log, stop everything that uses the vault and run: "
                + "mv '\(path)-wal' '\(path)-wal.unused'. To use the log, put the file back that was there before")
    }
}
