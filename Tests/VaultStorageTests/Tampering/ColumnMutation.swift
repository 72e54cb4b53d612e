/// One way to change one value.
enum ColumnMutation: String, CaseIterable {
    case null
    case empty
    case otherRow
    case older
    case type
    case next
    case maximum

    /// The value to write; `nil` if this change makes no difference here.
    func value(
        for current: RawDatabase.Value, otherRow: RawDatabase.Value?, older: RawDatabase.Value?
    ) -> RawDatabase.Value? {
        let changed: RawDatabase.Value? =
            switch self {
            case .null: .null
            case .empty: Self.empty(current)
            case .otherRow: otherRow
            case .older: older
            case .type: Self.otherType(current)
            case .next: Self.next(current)
            case .maximum: Self.maximum(current)
            }
        return changed == current ? nil : changed
    }

    private static func empty(_ value: RawDatabase.Value) -> RawDatabase.Value {
        switch value {
        case .null, .blob: .blob([])
        case .integer: .integer(0)
        case .text: .text([])
        }
    }

    /// The same bytes under another type, where there are bytes.
    private static func otherType(_ value: RawDatabase.Value) -> RawDatabase.Value {
        switch value {
        case .null: .integer(1)
        case .integer(let number): .blob(Array("\(number)".utf8))
        case .text(let bytes): .blob(bytes)
        case .blob(let bytes): .text(bytes)
        }
    }

    private static func next(_ value: RawDatabase.Value) -> RawDatabase.Value {
        switch value {
        case .null: return .integer(1)
        case .integer(let number): return .integer(number &+ 1)
        case .text(let bytes): return .text(bytes + [0x31])
        case .blob(var bytes):
            if let last = bytes.popLast() { bytes.append(last &+ 1) }
            return .blob(bytes)
        }
    }

    private static func maximum(_ value: RawDatabase.Value) -> RawDatabase.Value {
        switch value {
        case .null, .blob: .blob([UInt8](repeating: 0xff, count: 200_000))
        case .integer: .integer(.max)
        case .text: .text([UInt8](repeating: 0x7f, count: 200_000))
        }
    }
}
