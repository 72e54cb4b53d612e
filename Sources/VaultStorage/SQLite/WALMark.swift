import Glibc
import VaultCrypto

/// Which WAL belongs to which database file.
///
/// SQLite replays a WAL over whatever database file lies beside it: its checksums cover the WAL alone. So the vault has
/// a mark, which is replaced in the first commit of a new WAL, at a moment at which the database file holds everything
/// before it. Whatever a checkpoint that was cut short has copied, the file then has this mark or the one before. A
/// file with another one was put there from a copy, or the WAL was.
struct WALMark: Equatable {
    let mark: Bytes16
    /// Zero in a vault whose WAL has never begun anew.
    let previous: Bytes16
    /// SQLite's count of schema changes when the mark was made; 0 if nothing is known of it. `VACUUM INTO` adds one,
    /// other copies by SQLite begin anew: their pages are not laid out as those of the vault.
    let schemaCookie: Int64

    /// Replaces the mark. To be called in a write transaction that sees what the database file holds: in an empty WAL,
    /// or in one of which everything has been copied.
    /// - Returns: whether there is a mark to be replaced.
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

    /// Refuses a database file that the WAL beside it was not written for, before anything is read through it.
    ///
    /// Only what can be read for certain is a reason: a file that a checkpoint has changed by half, and one from before
    /// there were marks, are left to SQLite.
    /// - Parameter connection: to the vault, outside a transaction.
    static func check(_ connection: Connection, _ file: VaultFile) throws(StoreError) {
        // Where that is the file alone, the WAL has been found empty.
        guard connection.access != .immutable else { return }
        guard WALFile.size(besideVaultAt: file.path) > WALFile.headerSize else { return }
        if belongTogether(connection, file) { return }
        // Another process may have moved the WAL on between the two looks. With the write lock held none does.
        let isHeld: Bool
        do throws(StoreError) {
            try connection.execute("BEGIN IMMEDIATE")
            isHeld = true
        } catch {
            guard error.code == .readOnly else { throw error }
            isHeld = false
        }
        defer { if isHeld { try? connection.execute("ROLLBACK") } }
        if !belongTogether(connection, file) { throw Self.foreignWAL(file.path) }
    }

    private static func belongTogether(_ connection: Connection, _ file: VaultFile) -> Bool {
        let seen: Look?
        do throws(StoreError) { seen = try Look(connection) } catch {
            guard error.code == .damaged else { return true }
            seen = nil
        }
        if let seen, seen.isUnmarkedVault { return isConsistent(connection, file) }
        guard let found = try? Look(Connection(path: file.path, access: .immutable)) else { return true }
        guard let seen, let mark = seen.mark else {
            // Pages of something else stand before those that the file has.
            return found.mark == nil
        }
        guard found.hasTable else { return mark.previous == .zero }
        guard let base = found.mark else { return true }
        guard base.mark == mark.mark || base.mark == mark.previous else { return false }
        if mark.schemaCookie == 0 || found.cookie == mark.schemaCookie { return true }
        // A change of the schema in the WAL may have been copied, as a whole or up to one of its steps.
        return found.cookie > mark.schemaCookie && found.cookie <= seen.cookie
            && WALFile.holdsFirstPage(besideVaultAt: file.path)
    }

    /// A vault from before there were marks says nothing about its WAL. A WAL that was not written for it would leave
    /// traces.
    private static func isConsistent(_ connection: Connection, _ file: VaultFile) -> Bool {
        // A commit that changes the number of pages has the first page with it, where SQLite reads the number.
        let sizes = WALFile.committedSizes(besideVaultAt: file.path)
        if !sizes.isEmpty, let count = try? connection.integer("PRAGMA page_count"), !sizes.contains(count) {
            return false
        }
        return (try? connection.text("PRAGMA integrity_check(1)")) == "ok"
    }

    /// What one connection sees.
    private struct Look {
        let hasTable: Bool
        let isUnmarkedVault: Bool
        /// `nil` if there is none that is whole.
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

/// The WAL as a file. It may be opened beside SQLite: no lock lies on it.
enum WALFile {
    static let headerSize = 32

    /// 0 if there is none.
    static func size(besideVaultAt path: String) -> Int {
        var info = stat()
        return unsafe lstat(path + "-wal", &info) == 0 ? Int(info.st_size) : 0
    }

    /// Whether one of its frames may hold the database file's first page, with all that SQLite notes there. Frames have
    /// the page's number, and the salts of the WAL that they belong to (https://sqlite.org/fileformat2.html#walformat).
    static func holdsFirstPage(besideVaultAt path: String) -> Bool {
        frames(besideVaultAt: path) { $0[0..<4].elementsEqual([0, 0, 0, 1]) ? true : nil }.isEmpty == false
    }

    /// How many pages the database has after each commit. The last ones may have been cut short.
    static func committedSizes(besideVaultAt path: String) -> Set<Int64> {
        Set(
            frames(besideVaultAt: path) { frame in
                let size = frame[4..<8].reduce(Int64(0)) { $0 << 8 | Int64($1) }
                return size == 0 ? nil : size
            })
    }

    private static func frames<R>(besideVaultAt path: String, _ body: ([UInt8]) -> R?) -> [R] {
        let file = unsafe open(path + "-wal", O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard file >= 0 else { return [] }
        defer { close(file) }
        guard let header = read(file, at: 0, count: headerSize) else { return [] }
        let pageSize = header[8..<12].reduce(0) { $0 << 8 | Int($1) }
        var offset = headerSize
        var result: [R] = []
        while let frame = read(file, at: offset, count: 24), frame[8..<16].elementsEqual(header[16..<24]) {
            if let found = body(frame) { result.append(found) }
            offset += 24 + pageSize
        }
        return result
    }

    private static func read(_ file: Int32, at offset: Int, count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        return unsafe pread(file, &bytes, count, off_t(offset)) == count ? bytes : nil
    }
}
