package import VaultCrypto
package import VaultStorage

// For tests that inspect committed data.
extension MemoryState {
    package func count(_ table: Table) -> Int { self[table].count }

    /// The keys of the rows that differ: changed, new or deleted.
    package func changedRows(of table: Table, since former: MemoryState) -> [Int64] {
        Set(self[table].keys).union(former[table].keys).filter { self[table][$0] != former[table][$0] }.sorted()
    }

    package func isMissing(_ row: Int64, in table: Table) -> Bool { self[table][row] == nil }

    /// Nil if there is no such row, or its value is not an integer.
    package func integer(_ column: Column, ofRow row: Int64) -> Int64? {
        if case .integer(let value)? = self[column.table][row]?[column.name] { value } else { nil }
    }

    package func bytes16(_ column: Column, ofRow row: Int64) -> Bytes16? {
        if case .bytes(let bytes)? = self[column.table][row]?[column.name] { Bytes16(bytes) } else { nil }
    }
}

extension MemoryDatabase {
    /// Restores a former state, as someone with write access to the file could.
    package func putBack(_ state: MemoryState) { current = state }
}
