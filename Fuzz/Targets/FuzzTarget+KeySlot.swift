import VaultCrypto
import VaultStorage

extension FuzzTarget {
    /// A key slot's row, which is read before any key is available. An accepted slot represents the whole row, and
    /// requires no more work and memory than allowed.
    static let keySlot = FuzzTarget("key-slot") { bytes throws(FuzzFinding) in
        let row = FuzzRow(bytes)
        guard let slot = try? KeySlotRows.slot(row) else { return }
        let description = slot.description
        try require(
            row.values == FuzzRow.values(of: slot, besides: row),
            "a slot that is not what its row says: \(description.kind)")
        try require(description.label.utf8.count <= 200, "a label that is too long")
        switch description.kind {
        case .keyFile: break
        case .passphrase(_, let cost):
            try require((1...10).contains(cost.operations), "as many passes as a row asks for")
            try require((47_104...2_097_152).contains(cost.memoryKiB), "as much memory as a row asks for")
        case .wrapped(let blob, _): try require((1...4_096).contains(blob.count), "a wrapped key of another length")
        case .recipient(_, let share): try require(share.count == 32, "a share of another length")
        }
        // A planted slot never opens, and excessive work is refused in time.
        let opened = try? KeySlot.unlock([slot], with: SpoiledKey(), vault: .zero)
        try require(opened == nil, "a slot that no one sealed opens")
    }
}

/// A separate key for each slot, with the slot's key id, that no slot was sealed with.
private struct SpoiledKey: SlotUnlocker {
    func slotKey(for slot: KeySlotDescription) throws(VaultCryptoError) -> SealingKey? {
        let secret = [UInt8](repeating: 7, count: SealingKey.byteCount)
        return try unsafe secret.span.bytes.withUnsafeBytes { bytes throws(VaultCryptoError) in
            try unsafe SealingKey(id: slot.keyID, copying: bytes)
        }
    }
}

/// A row with the columns that the input names: for each a type (0 nothing, 1 number, 2 bytes, 3 text), and 8 bytes, or
/// a length of 2 bytes and that many bytes. Columns that it does not name are empty.
@safe private final class FuzzRow: RowCursor {
    enum Value: Equatable {
        case null
        case integer(Int64)
        case bytes([UInt8])
        case text(String)
    }

    static let columnCount = 14

    private(set) var values: [Value] = []
    private var lent: [UnsafeMutableRawBufferPointer] = unsafe []

    init(_ input: [UInt8]) {
        var rest = input[...]
        while values.count < Self.columnCount { values.append(Self.next(&rest)) }
    }

    deinit { unsafe lent.forEach { unsafe $0.deallocate() } }

    private static func next(_ rest: inout ArraySlice<UInt8>) -> Value {
        guard let type = rest.popFirst() else { return .null }
        switch type % 4 {
        case 1:
            let number = rest.prefix(8).reversed().reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
            rest = rest.dropFirst(8)
            return .integer(Int64(bitPattern: number))
        case 2, 3:
            let count = rest.prefix(2).reversed().reduce(0) { $0 << 8 | Int($1) }
            let content = Array(rest.dropFirst(2).prefix(count))
            rest = rest.dropFirst(2 + count)
            return type % 4 == 2 ? .bytes(content) : .text(String(decoding: content, as: UTF8.self))
        default: return .null
        }
    }

    /// The row that the slot implies, in its meaningful columns.
    static func values(of slot: KeySlot, besides row: FuzzRow) -> [Value] {
        let description = slot.description
        // A column that is empty or of another type is read as empty.
        func asRead(_ column: Int, _ value: Value, _ empty: Value) -> Value {
            value == empty ? row.values[column] : value
        }
        var values = [Value](repeating: .null, count: columnCount)
        values[0] = .bytes(description.id.array)
        values[1] = .integer(description.kind.code)
        values[2] = .bytes(description.keyID.bytes.array)
        values[6] = asRead(6, .text(description.label), .text(""))
        values[7] = asRead(7, .integer(description.createdAt), .integer(0))
        values[8] = asRead(8, .bytes(slot.wrappedVaultKey), .bytes([]))
        // The row's number is not part of the slot.
        values[9] = row.values[9]
        switch description.kind {
        case .keyFile: break
        case .passphrase(let salt, let cost):
            values[3] = .bytes(salt.array)
            values[4] = .integer(Int64(cost.operations))
            values[5] = .integer(Int64(cost.memoryKiB))
        case .wrapped(let blob, let keyName):
            values[10] = .bytes(blob)
            values[11] = keyName.map { asRead(11, .text($0), .text("")) } ?? .null
        case .recipient(let recipient, let share):
            values[12] = .bytes(recipient.bytes)
            values[13] = .bytes(share)
        }
        return values
    }

    func step() -> Bool { false }
    func reset() {}
    func bind(_ parameter: Int32, _ value: Int64) {}
    func bindNull(_ parameter: Int32) {}
    func bind(_ parameter: Int32, _ text: String) {}
    func bind(_ parameter: Int32, copying bytes: UnsafeRawBufferPointer) {}
    func bind(_ parameter: Int32, borrowing bytes: UnsafeRawBufferPointer) {}

    func isNull(_ column: Int32) -> Bool { values[Int(column)] == .null }

    func integer(_ column: Int32) -> Int64 {
        if case .integer(let number) = values[Int(column)] { number } else { 0 }
    }

    func text(_ column: Int32) -> String {
        if case .text(let text) = values[Int(column)] { text } else { "" }
    }

    func blob(_ column: Int32) -> UnsafeRawBufferPointer {
        guard case .bytes(let bytes) = values[Int(column)], !bytes.isEmpty else {
            return unsafe UnsafeRawBufferPointer(start: nil, count: 0)
        }
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 16)
        unsafe copy.copyBytes(from: bytes)
        unsafe lent.append(copy)
        return UnsafeRawBufferPointer(copy)
    }
}
