import VaultCrypto

/// A row as the file stores it: nothing in it is opened or trusted.
package struct RawRow: Sendable, Equatable {
    package enum Value: Sendable, Equatable {
        case null
        case integer(Int64)
        case text([UInt8])
        case blob([UInt8])
        /// No column of a vault holds such a value.
        case real(Double)
    }

    package struct Column: Sendable, Equatable {
        package let name: String
        package let value: Value

        package init(name: String, value: Value) {
            self.name = name
            self.value = value
        }
    }

    package let table: String
    package let columns: [Column]

    package init(table: String, columns: [Column]) {
        self.table = table
        self.columns = columns
    }

    /// BLAKE2b-256 over the rows, encoded as `docs/vault-format.md` says.
    package static func hash(of rows: [RawRow]) -> [UInt8] {
        var bytes: [UInt8] = []
        for row in rows {
            append(3, Array(row.table.utf8), to: &bytes)
            append(Int64(row.columns.count), to: &bytes)
            for column in row.columns {
                append(3, Array(column.name.utf8), to: &bytes)
                switch column.value {
                case .null: bytes.append(0)
                case .integer(let value): append(value, to: &bytes)
                case .blob(let value): append(2, value, to: &bytes)
                case .text(let value): append(3, value, to: &bytes)
                case .real(let value): append(4, Array("\(value)".utf8), to: &bytes)
                }
            }
        }
        return unsafe bytes.withUnsafeBytes { unsafe Checksum.digest(of: $0) }
    }

    private static func append(_ type: UInt8, _ value: [UInt8], to bytes: inout [UInt8]) {
        bytes.append(type)
        append(littleEndian: Int64(value.count), to: &bytes)
        bytes += value
    }

    private static func append(_ value: Int64, to bytes: inout [UInt8]) {
        bytes.append(1)
        append(littleEndian: value, to: &bytes)
    }

    private static func append(littleEndian value: Int64, to bytes: inout [UInt8]) {
        for shift in stride(from: 0, to: 64, by: 8) { bytes.append(UInt8(truncatingIfNeeded: value >> shift)) }
    }
}
