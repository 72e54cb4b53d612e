import VaultStorage

/// A query on in-memory tables. The first step computes the result set.
@safe final class MemoryCursor: RowCursor {
    private let query: Query
    private let tables: MemoryTables
    private var parameters: [Int32: MemoryValue] = [:]
    private var answer: AnyIterator<[MemoryValue]>?
    private var row: [MemoryValue] = []
    /// Copies of the row's contents, valid while the cursor is on the row.
    private var lent: [UnsafeMutableRawBufferPointer] = unsafe []

    init(_ query: Query, of tables: MemoryTables) {
        self.query = query
        self.tables = tables
    }

    deinit { takeBack() }

    private func takeBack() {
        for index in unsafe lent.indices { unsafe lent[index].deallocate() }
        unsafe lent.removeAll()
    }

    func step() throws(StoreError) -> Bool {
        takeBack()
        let rest = if let answer { answer } else { try tables.run(query, parameters) }
        answer = rest
        guard let next = rest.next() else { return false }
        row = next
        return true
    }

    func reset() {
        takeBack()
        answer = nil
        row = []
    }

    func bind(_ parameter: Int32, _ value: Int64) { parameters[parameter] = .integer(value) }
    func bindNull(_ parameter: Int32) { parameters[parameter] = .null }
    func bind(_ parameter: Int32, _ text: String) { parameters[parameter] = .text(Array(text.utf8)) }
    func bind(_ parameter: Int32, copying bytes: UnsafeRawBufferPointer) {
        parameters[parameter] = .bytes(unsafe Array(bytes))
    }
    func bind(_ parameter: Int32, borrowing bytes: UnsafeRawBufferPointer) {
        unsafe bind(parameter, copying: bytes)
    }

    private func value(_ column: Int32) -> MemoryValue {
        row.indices.contains(Int(column)) ? row[Int(column)] : .null
    }

    func isNull(_ column: Int32) -> Bool { value(column) == .null }

    func integer(_ column: Int32) -> Int64 {
        if case .integer(let value) = value(column) { value } else { 0 }
    }

    func text(_ column: Int32) -> String {
        if case .text(let bytes) = value(column) { String(decoding: bytes, as: UTF8.self) } else { "" }
    }

    func blob(_ column: Int32) -> UnsafeRawBufferPointer {
        guard case .bytes(let bytes) = value(column), !bytes.isEmpty else {
            return unsafe UnsafeRawBufferPointer(start: nil, count: 0)
        }
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 16)
        unsafe copy.copyBytes(from: bytes)
        unsafe lent.append(copy)
        return UnsafeRawBufferPointer(copy)
    }
}
