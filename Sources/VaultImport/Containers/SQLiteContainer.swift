import VaultSQLite
import VaultStorage

/// A SQLite database file, read in one transaction.
final class SQLiteContainer: TableContainer {
    let format = SourceFormat.sqlite
    let tables: [TableShape]
    private let database: ForeignDatabase
    private let limits: ImportLimits
    private var lookups: [String: Lookup] = [:]

    private struct Lookup {
        let columns: ColumnIndex
        let cursor: ForeignCursor
    }

    /// - Parameter tables: The result of an earlier detection; nil to detect.
    init(path: String, limits: ImportLimits, tables: [TableShape]? = nil) throws(ImportError) {
        self.limits = limits
        do throws(StoreError) {
            let database = try ForeignDatabase(path: path)
            self.database = database
            self.tables =
                if let tables {
                    tables
                } else {
                    try database.tables().map { TableShape(name: $0.name, columns: ColumnIndex($0.columns)) }
                }
        } catch {
            throw Self.opening(path, error)
        }
    }

    func rows(of table: TableShape) throws(ImportError) -> any RecordCursor {
        do throws(StoreError) {
            let foreign = Self.foreign(table)
            let total = try database.count(of: foreign)
            return SQLiteCursor(
                try database.rows(of: foreign, columns: table.columns.names), table.columns, limits, total: total)
        } catch {
            throw ImportError(reading: error)
        }
    }

    func prepareLookup(in table: TableShape, by column: String, of columns: Set<String>) throws(ImportError) {
        guard let key = table.columns[column] else { return }
        let names = table.columns.names.filter { columns.contains(ColumnIndex.folded($0)) }
        do throws(StoreError) {
            let cursor = try database.rows(
                of: Self.foreign(table), columns: names, where: table.columns.names[key])
            lookups[table.name] = Lookup(columns: ColumnIndex(names), cursor: cursor)
        } catch {
            throw ImportError(reading: error)
        }
    }

    func find(_ value: RawValue, in table: TableShape) throws(ImportError) -> Record? {
        guard let lookup = lookups[table.name] else { return nil }
        do throws(StoreError) {
            defer { lookup.cursor.reset() }
            lookup.cursor.look(for: ForeignValue(value))
            guard try lookup.cursor.next() else { return nil }
            let values = lookup.cursor.values(longest: limits.recordBytes).map(RawValue.init)
            return Record(row: 0, columns: lookup.columns, values: values)
        } catch {
            throw ImportError(reading: error)
        }
    }

    private static func opening(_ path: String, _ error: StoreError) -> ImportError {
        if error.code == .unsafeFile {
            return ImportError(
                .unreadableFile,
                "the source has a WAL, and its files would be created here with another owner",
                hint: "run this as the owner of the file, or let them make a copy: sqlite3 FILE '.backup COPY'; "
                    + "otherwise the other system could no longer write")
        }
        let read = ImportError(reading: error)
        guard read.code == .unreadableFile, error.code != .outOfMemory,
            let stream = try? ByteStream(path: path), isWALDatabase(stream.head())
        else { return read }
        // Reading it without them would require a copy of it: a second file with plaintext tokens, which its owner must
        // make and wipe.
        return ImportError(
            .unreadableFile, "the source has a WAL, and SQLite may not create its files next to it",
            hint: "while nothing writes to it, copy it, and its -wal file if there is one, to a directory of your own")
    }

    /// The versions for writing and for reading (https://sqlite.org/fileformat.html §1.3.3).
    private static func isWALDatabase(_ head: ArraySlice<UInt8>) -> Bool {
        head.dropFirst(18).prefix(2).elementsEqual([2, 2])
    }

    private static func foreign(_ table: TableShape) -> ForeignTable {
        ForeignTable(name: table.name, columns: table.columns.names)
    }
}

private final class SQLiteCursor: RecordCursor {
    private let cursor: ForeignCursor
    private let columns: ColumnIndex
    private let limits: ImportLimits
    private var row = 0
    private let total: Int

    init(_ cursor: ForeignCursor, _ columns: ColumnIndex, _ limits: ImportLimits, total: Int) {
        self.total = total
        self.cursor = cursor
        self.columns = columns
        self.limits = limits
    }

    var progress: Double? { total > 0 ? Double(row) / Double(total) : nil }

    func next() throws(ImportError) -> RecordReading? {
        do throws(StoreError) {
            guard try cursor.next() else { return nil }
        } catch {
            throw ImportError(reading: error)
        }
        row += 1
        let values = cursor.values(longest: limits.recordBytes).map(RawValue.init)
        return .record(Record(row: row, columns: columns, values: values))
    }
}

extension RawValue {
    fileprivate init(_ value: ForeignValue) {
        switch value {
        case .null: self = .null
        case .integer(let number): self = .integer(number)
        case .real(let number): self = .real(number)
        case .text(let text): self = .text(text)
        case .blob(let bytes): self = .bytes(bytes)
        case .malformedText: self = .fault(.notUTF8)
        case .tooLong: self = .fault(.tooLong)
        }
    }
}

extension ForeignValue {
    fileprivate init(_ value: RawValue) {
        switch value {
        case .integer(let number): self = .integer(number)
        case .text(let text): self = .text(text)
        case .bytes(let bytes): self = .blob(bytes)
        default: self = .null
        }
    }
}

extension ImportError {
    /// The store's errors refer to vaults.
    fileprivate init(reading error: StoreError) {
        switch error.code {
        case .busy:
            self.init(.busySource, "another program has the source locked", hint: "try again, or read a copy of it")
        case .damaged, .notAVault:
            self.init(
                .damagedSource, "SQLite cannot read the source: it is damaged, or encrypted",
                hint: "check it: sqlite3 FILE 'PRAGMA integrity_check'")
        case .outOfMemory: self.init(.unreadableFile, "there is not enough memory")
        default:
            self.init(
                .unreadableFile, "SQLite cannot open the source",
                hint: "check its permissions, and those of its directory")
        }
    }
}
