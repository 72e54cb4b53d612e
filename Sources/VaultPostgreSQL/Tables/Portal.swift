import VaultStorage

/// A result that the server keeps and returns in portions: a PostgreSQL cursor, in a transaction.
final class Portal {
    private unowned let tables: ServerTables
    private let name: String
    private let fetch: Statement
    private let portion: Int
    /// Whether the transaction was begun for it.
    private let isAlone: Bool
    private var isOver = false
    private var isClosed = false

    init(_ tables: ServerTables, _ name: String, _ portion: Int, isAlone: Bool) {
        self.tables = tables
        self.name = name
        self.portion = portion
        self.isAlone = isAlone
        fetch = Statement("FETCH \(portion) FROM \(name)", isKept: false)
    }

    func declare(_ statement: Statement, _ parameters: Parameters) throws(StoreError) {
        let declare = Statement(
            "DECLARE \(name) NO SCROLL CURSOR FOR \(statement.sql)", statement.types, isKept: false)
        try tables.connection.send(declare, parameters)
    }

    /// nil after the last portion.
    func next() throws(StoreError) -> ResultSet? {
        if isOver { return nil }
        let answer = try tables.ask(fetch, .init())
        isOver = answer.rowCount < portion
        return answer
    }

    func close() {
        if isClosed { return }
        isClosed = true
        tables.close(name, endingTransaction: isAlone)
    }
}
