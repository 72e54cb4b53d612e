import VaultCrypto
import VaultStorage

/// A hot query: its rows come from memory as long as the vault has not changed, and else from the database.
final class CachedCursor: RowCursor {
    private enum State {
        case ready
        case stored(CachedRows, row: Int)
        /// Rows of the database, which are not stored.
        case stepping
    }

    private let statement: Statement
    private let query: Int
    private unowned let reading: CachedReading
    private var state = State.ready
    /// Parameter 1; nil: it is none that rows are kept for.
    private var key: Bytes16?
    /// Parameter 2 of a query that has two.
    private var secondKey: Bytes16?
    /// Whether the statement has them.
    private var isBound = false

    init(_ query: Query, _ statement: Statement, _ reading: CachedReading) {
        self.statement = statement
        self.query = query.number
        self.reading = reading
    }

    func step() throws(StoreError) -> Bool {
        switch state {
        case .stored(let rows, let row):
            state = .stored(rows, row: row + 1)
            return row + 1 < rows.count
        case .stepping: return try statement.step()
        case .ready: break
        }
        if let key {
            let rows = try reading.cache.rows(RowCache.Key(query, key, secondKey), reading) {
                () throws(StoreError) in try read()
            }
            if let rows {
                state = .stored(rows, row: 0)
                return rows.count > 0
            }
        }
        bindKey()
        state = .stepping
        return try statement.step()
    }

    /// All rows; nil if there are too many.
    private func read() throws(StoreError) -> CachedRows? {
        bindKey()
        defer { statement.reset() }
        var rows = CachedRows.Builder(columnCount: statement.columnCount)
        while try statement.step() {
            guard rows.add(statement) else { return nil }
        }
        return rows.finish()
    }

    private func bindKey() {
        guard let key, !isBound else { return }
        statement.bind(1, key)
        if let secondKey { statement.bind(2, secondKey) }
        isBound = true
    }

    func reset() {
        if case .stepping = state { statement.reset() }
        state = .ready
    }

    // MARK: Parameters

    func bind(_ parameter: Int32, copying bytes: UnsafeRawBufferPointer) {
        isBound = false
        switch (parameter, unsafe Bytes16(bytes)) {
        case (1, let bytes?): key = bytes
        case (2, let bytes?): secondKey = bytes
        default:
            key = nil
            unsafe statement.bind(parameter, copying: bytes)
        }
    }

    func bind(_ parameter: Int32, borrowing bytes: UnsafeRawBufferPointer) { unsafe bind(parameter, copying: bytes) }

    func bind(_ parameter: Int32, _ value: Int64) {
        key = nil
        statement.bind(parameter, value)
    }

    func bindNull(_ parameter: Int32) {
        key = nil
        statement.bindNull(parameter)
    }

    func bind(_ parameter: Int32, _ text: String) {
        key = nil
        statement.bind(parameter, text)
    }

    // MARK: The user's cell

    var openUserCell: GuardedCopy? {
        if case .stored(let rows, _) = state { return rows.openUserCell }
        return nil
    }

    func keepUserCell(_ plaintext: UnsafeRawBufferPointer) {
        if case .stored(let rows, _) = state { unsafe rows.keepUserCell(plaintext) }
    }

    // MARK: Columns

    func isNull(_ column: Int32) -> Bool {
        if case .stored(let rows, let row) = state { return rows.isNull(row, column) }
        return statement.isNull(column)
    }

    func integer(_ column: Int32) -> Int64 {
        if case .stored(let rows, let row) = state { return rows.integer(row, column) }
        return statement.integer(column)
    }

    func text(_ column: Int32) -> String {
        if case .stored = state { return "" }
        return statement.text(column)
    }

    func blob(_ column: Int32) -> UnsafeRawBufferPointer {
        if case .stored(let rows, let row) = state { return unsafe rows.blob(row, column) }
        return unsafe statement.blob(column)
    }
}
