import CSQLite

extension Intruder {
    /// The names of a table's columns that hold something in this row.
    package func columns(of table: String, row: Int64) throws -> [String] {
        let names = try text("SELECT group_concat(name) FROM pragma_table_info('\(table)')") ?? ""
        return try names.split(separator: ",").map(String.init).filter {
            try text("SELECT \($0) IS NOT NULL FROM \(table) WHERE rowid = \(row)") == "1"
        }
    }

    /// Changes one bit of a value: of a number, or of the byte in the middle or at the end of a blob.
    package func flip(_ table: String, _ column: String, row: Int64, atEnd: Bool) throws {
        let place = "FROM \(table) WHERE rowid = \(row)"
        let change: String
        if try text("SELECT typeof(\(column)) \(place)") == "integer" {
            // A row's number must not become that of another row: then it is the other one that is damaged.
            let bit = atEnd ? "64" : "1 << 60"
            change = "(\(column) | (\(bit))) - (\(column) & (\(bit)))"
        } else {
            let position = "max(1, \(atEnd ? "length(\(column))" : "length(\(column)) / 2"))"
            let digits = try text("SELECT hex(substr(\(column), \(position), 1)) \(place)") ?? ""
            guard let byte = UInt8(digits, radix: 16) else { throw Failed(code: SQLITE_MISMATCH) }
            let flipped = byte ^ 4
            let hex = (flipped < 16 ? "0" : "") + String(flipped, radix: 16)
            change = """
                CAST(substr(\(column), 1, \(position) - 1) || x'\(hex)' || substr(\(column), \(position) + 1) AS BLOB)
                """
        }
        try execute(
            """
            PRAGMA foreign_keys = 0; PRAGMA ignore_check_constraints = 1;
            UPDATE \(table) SET \(column) = \(change) WHERE rowid = \(row)
            """)
    }
}
