import VaultStorage

/// The contents of a vault's tables at one moment. A copy of it is a snapshot.
package struct MemoryState {
    typealias Row = [String: MemoryValue]

    struct Rows {
        private(set) var keys: [Int64] = []
        private var rows: [Int64: Row] = [:]
        /// For indexed columns: the keys of the rows with each value, in order.
        private var places: [String: [MemoryValue: [Int64]]] = [:]

        init(_ table: Table) {
            for field in table.fields where field.isUnique || field.reference != nil { places[field.name] = [:] }
        }

        var count: Int { keys.count }

        subscript(key: Int64) -> Row? {
            get { rows[key] }
            set {
                let former = rows[key]
                if (former == nil) != (newValue == nil) { keys.toggle(key) }
                rows[key] = newValue
                for column in places.keys {
                    let (old, new) = (former?[column] ?? .null, newValue?[column] ?? .null)
                    guard old != new else { continue }
                    if old != .null {
                        places[column]?[old]?.toggle(key)
                        if places[column]?[old]?.isEmpty == true { places[column]?[old] = nil }
                    }
                    if new != .null { places[column]?[new, default: []].toggle(key) }
                }
            }
        }

        /// Nil if the column is not indexed.
        func keys(where column: String, is value: MemoryValue) -> [Int64]? {
            places[column].map { $0[value] ?? [] }
        }
    }

    private static let empty: [Table: Rows] = Dictionary(
        uniqueKeysWithValues: Table.allCases.map { ($0, Rows($0)) })

    private var tables = empty
    /// See ``TableAccess/highestFence()``.
    var highestFence: Int64 = 0

    subscript(table: Table) -> Rows { tables[table] ?? Rows(table) }

    // MARK: Changes

    mutating func insert(_ row: Row, into table: Table) throws(StoreError) -> Int64 {
        let key: Int64
        switch row[table.key] {
        case .integer(let given)?: key = given
        case nil, .null?:
            guard let last = self[table].keys.last else { return try insert(row, into: table, as: 1) }
            guard last < .max else { throw .conflict(table, "there is no number left") }
            key = last + 1
        default: throw .conflict(table, "\(table.key) is no integer")
        }
        return try insert(row, into: table, as: key)
    }

    private mutating func insert(_ row: Row, into table: Table, as key: Int64) throws(StoreError) -> Int64 {
        guard self[table][key] == nil else { throw .conflict(table, "there is a row \(key)") }
        try write(row, to: table, as: key)
        return key
    }

    mutating func update(_ table: Table, _ key: Int64, _ changes: Row) throws(StoreError) {
        guard var row = self[table][key] else { return }
        let changed = changes.filter { row[$0.key] != $0.value }
        try requireUnreferred(row, of: table, changed.keys)
        row.merge(changed) { _, new in new }
        guard case .integer(let number)? = changed[table.key] else {
            try write(row, to: table, as: key)
            return
        }
        guard self[table][number] == nil else { throw .conflict(table, "there is a row of that number") }
        try write(row, to: table, as: number)
        tables[table]?[key] = nil
    }

    mutating func delete(_ table: Table, _ key: Int64) throws(StoreError) {
        guard let row = self[table][key] else { return }
        try requireUnreferred(row, of: table, row.keys)
        tables[table]?[key] = nil
    }

    /// Rejects the removal of values that rows of other tables reference.
    private func requireUnreferred(
        _ row: Row, of table: Table, _ columns: some Sequence<String>
    ) throws(StoreError) {
        for (referring, column, target) in MemoryState.references(to: table) where columns.contains(target) {
            guard let value = row[target], value != .null else { continue }
            if firstKey(in: referring, where: column, is: value) != nil {
                throw .conflict(table, "rows of \(referring.rawValue) belong to it")
            }
        }
    }

    private mutating func write(_ given: Row, to table: Table, as key: Int64) throws(StoreError) {
        var row = given
        row[table.key] = .integer(key)
        if table == .vault, key != 1 { throw .conflict(table, "the vault has one row") }
        try requireFits(row, table)
        if let parent = table.keyReference { try requireParent(parent, .integer(key), of: table) }
        for field in table.fields {
            let value = row[field.name] ?? .null
            row[field.name] = value
            try check(value, field, table, key)
        }
        tables[table, default: Rows(table)][key] = row
        if table == .refreshIntent { highestFence = max(highestFence, key) }
    }

    /// Rejects rows that the table cannot hold, regardless of its other rows.
    func requireFits(_ row: Row, _ table: Table) throws(StoreError) {
        for field in table.fields {
            let value = row[field.name] ?? .null
            guard value.fits(field) else { throw .conflict(table, "\(field.name) cannot hold \(value.kind)") }
        }
    }

    private func check(
        _ value: MemoryValue, _ field: Table.Field, _ table: Table, _ key: Int64
    ) throws(StoreError) {
        guard value != .null else { return }
        if field.isUnique, let other = firstKey(in: table, where: field.name, is: value), other != key {
            throw .conflict(table, "row \(other) has the same \(field.name)")
        }
        if let parent = field.reference { try requireParent(parent, value, of: table) }
    }

    private func requireParent(_ parent: Column, _ value: MemoryValue, of table: Table) throws(StoreError) {
        guard firstKey(in: parent.table, where: parent.name, is: value) == nil else { return }
        throw .conflict(table, "there is no such row of \(parent.table.rawValue)")
    }

    // MARK: Finding

    /// The rows whose column may have this value: the whole table, unless the column is indexed.
    func keys(in table: Table, where column: String, is value: MemoryValue) -> [Int64] {
        if let found = self[table].keys(where: column, is: value) { return found }
        guard column == table.key else { return self[table].keys }
        guard case .integer(let key) = value, self[table][key] != nil else { return [] }
        return [key]
    }

    func firstKey(in table: Table, where column: String, is value: MemoryValue) -> Int64? {
        keys(in: table, where: column, is: value).first { self[table][$0]?[column] == value }
    }

    /// Whether a row of the table already has the key, or a unique value.
    func isTaken(_ row: Row, in table: Table) -> Bool {
        if let key = row[table.key], firstKey(in: table, where: table.key, is: key) != nil { return true }
        return table.fields.contains { field in
            guard field.isUnique, let value = row[field.name], value != .null else { return false }
            return firstKey(in: table, where: field.name, is: value) != nil
        }
    }

    private static func references(to table: Table) -> [(table: Table, column: String, target: String)] {
        referencesByTable[table] ?? []
    }

    private static let referencesByTable: [Table: [(table: Table, column: String, target: String)]] = {
        var found: [Table: [(table: Table, column: String, target: String)]] = [:]
        for table in Table.allCases {
            if let parent = table.keyReference {
                found[parent.table, default: []].append((table, table.key, parent.name))
            }
            for field in table.fields {
                guard let parent = field.reference else { continue }
                found[parent.table, default: []].append((table, field.name, parent.name))
            }
        }
        return found
    }()
}

extension StoreError {
    fileprivate static func conflict(_ table: Table, _ reason: String) -> StoreError {
        StoreError(.conflict, "the change contradicts what the vault holds (\(table.rawValue): \(reason))")
    }
}

extension [Int64] {
    /// Inserts the number in order, or removes it.
    fileprivate mutating func toggle(_ key: Int64) {
        let place = place(of: key)
        if place < count, self[place] == key { remove(at: place) } else { insert(key, at: place) }
    }

    /// The position of the number, or where it belongs.
    func place(of key: Int64) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if self[middle] < key { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
