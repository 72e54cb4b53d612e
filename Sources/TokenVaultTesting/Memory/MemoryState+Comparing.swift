package import VaultCrypto
package import VaultStorage

// For tests that look at what was committed.
extension MemoryState {
    package func count(_ table: Table) -> Int { self[table].count }

    /// The numbers of the rows that are not what they were: changed, new or gone.
    package func changedRows(of table: Table, since former: MemoryState) -> [Int64] {
        Set(self[table].keys).union(former[table].keys).filter { self[table][$0] != former[table][$0] }.sorted()
    }

    package func isMissing(_ row: Int64, in table: Table) -> Bool { self[table][row] == nil }

    /// Nil if there is no such row, or no integer in it.
    package func integer(_ column: Column, ofRow row: Int64) -> Int64? {
        if case .integer(let value)? = self[column.table][row]?[column.name] { value } else { nil }
    }

    package func bytes16(_ column: Column, ofRow row: Int64) -> Bytes16? {
        if case .bytes(let bytes)? = self[column.table][row]?[column.name] { Bytes16(bytes) } else { nil }
    }
}

extension MemoryDatabase {
    /// Puts back a former state, as one who can write to the file could.
    package func putBack(_ state: MemoryState) { current = state }
}
