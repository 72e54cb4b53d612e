import VaultStorage

/// The value of one column of a row.
enum MemoryValue: Hashable {
    case null
    case integer(Int64)
    /// In UTF-8: two texts are equal if their bytes are.
    case text([UInt8])
    case bytes([UInt8])

    var kind: String {
        switch self {
        case .null: "nothing"
        case .integer: "an integer"
        case .text: "a text"
        case .bytes(let bytes): "\(bytes.count) bytes"
        }
    }

    func fits(_ field: Table.Field) -> Bool {
        switch (self, field.type) {
        case (.null, _): field.isOptional
        case (.integer, .integer), (.text, .text): true
        case (.bytes(let bytes), .bytes): field.byteCount.map { $0 == bytes.count } ?? true
        default: false
        }
    }

    /// `nil` if one of them is NULL, or if their types differ: no query compares such values.
    func compare(_ other: MemoryValue) -> Int? {
        switch (self, other) {
        case (.integer(let own), .integer(let other)): own < other ? -1 : own > other ? 1 : 0
        case (.bytes(let own), .bytes(let other)), (.text(let own), .text(let other)):
            own.lexicographicallyPrecedes(other) ? -1 : other.lexicographicallyPrecedes(own) ? 1 : 0
        default: nil
        }
    }

    /// NULL comes first.
    func precedes(_ other: MemoryValue) -> Bool {
        switch (self, other) {
        case (.null, .null): false
        case (.null, _): true
        default: compare(other).map { $0 < 0 } ?? false
        }
    }
}
