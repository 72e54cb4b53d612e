import VaultCrypto
import VaultStorage

/// A query to a server, with its result. The first step sends it.
@safe final class ServerCursor: RowCursor {
    /// The number of rows fetched at once from a result that may be long.
    private static let portion = 256

    private let query: Query
    let statement: Statement
    private let reach: QueryReach?
    private unowned let tables: ServerTables
    private var parameters = Parameters()
    private let isUnbounded: Bool
    private var answer: ResultSet?
    private var row: Int32 = -1
    /// The rest of a long result, which the server keeps.
    private var portal: Portal?

    init(_ query: Query, _ tables: ServerTables) {
        self.query = query
        self.tables = tables
        statement = query.statement
        reach = query.reach
        isUnbounded = query.isUnbounded
    }

    func step() throws(StoreError) -> Bool {
        if answer == nil {
            guard try ask() else { return false }
        }
        row += 1
        guard let current = answer else { return false }
        if row < current.rowCount { return true }
        guard let portal, let next = try portal.next() else { return false }
        answer = next
        row = 0
        return next.rowCount > 0
    }

    /// False if there are no rows: a change has been sent.
    private func ask() throws(StoreError) -> Bool {
        row = -1
        let (given, misfits) = checkedParameters()
        guard case .select = query.operation else {
            if misfits, try tables.concernsRows(query, given) {
                throw StoreError(.conflict, "the change contradicts what the vault holds (a value of another type)")
            }
            try tables.change(query, statement, given)
            return false
        }
        if let reach, let known = tables.prefetchedResult(to: query, reach, given) {
            answer = known
        } else if isUnbounded {
            let opened = try tables.open(statement, given, Self.portion)
            (portal, answer) = opened
        } else {
            answer = try tables.ask(statement, given)
        }
        return true
    }

    /// A value of another type than the column's cannot be in a row. In a condition it equals nothing.
    private func checkedParameters() -> (Parameters, misfits: Bool) {
        var checked = Parameters()
        var misfits = false
        let values = query.valueParameters
        for (type, number) in zip(statement.types, Int32(1)...) {
            guard let value = parameters[number] else { continue }
            if value.type == type {
                checked[number] = value
            } else if values.contains(number) {
                misfits = true
            }
        }
        return (checked, misfits)
    }

    func reset() {
        answer = nil
        row = -1
        portal?.close()
        portal = nil
    }

    // MARK: Parameters

    func bind(_ parameter: Int32, _ value: Int64) { parameters[parameter] = .integer(value) }
    func bindNull(_ parameter: Int32) { parameters[parameter] = nil }
    func bind(_ parameter: Int32, _ text: String) { parameters[parameter] = .text(text) }
    func bind(_ parameter: Int32, copying bytes: UnsafeRawBufferPointer) {
        parameters[parameter] = .bytes(unsafe Array(bytes))
    }
    func bind(_ parameter: Int32, borrowing bytes: UnsafeRawBufferPointer) {
        unsafe bind(parameter, copying: bytes)
    }

    // MARK: Columns

    func isNull(_ column: Int32) -> Bool { answer?.isNull(row, column) ?? true }
    func integer(_ column: Int32) -> Int64 { answer?.integer(row, column) ?? 0 }
    func text(_ column: Int32) -> String { answer?.text(row, column) ?? "" }
    func blob(_ column: Int32) -> UnsafeRawBufferPointer {
        unsafe answer?.bytes(row, column) ?? UnsafeRawBufferPointer(start: nil, count: 0)
    }
}
