/// The columns of a table, looked up by their folded names.
///
/// `userId`, `user_id` and `"USERID"` are the same column in one product's schemas for several databases: folding
/// removes case and underscores.
final class ColumnIndex: Sendable {
    let names: [String]
    private let positions: [String: Int]

    init(_ names: [String]) {
        self.names = names
        positions = Dictionary(names.enumerated().map { (Self.folded($1), $0) }) { first, _ in first }
    }

    subscript(folded: String) -> Int? { positions[folded] }

    var folded: Set<String> { Set(positions.keys) }

    static func folded(_ name: String) -> String {
        String(decoding: name.utf8.lazy.filter { $0 != UInt8(ascii: "_") }.map(Self.lowercase), as: UTF8.self)
    }

    private static func lowercase(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }
}

/// A table of a container.
struct TableShape: Sendable {
    /// Includes the schema, where the container names one.
    let name: String
    let columns: ColumnIndex

    /// Without schema, folded.
    var foldedName: String {
        ColumnIndex.folded(name.split(separator: ".").last.map(String.init) ?? name)
    }

    /// Everything before the name; may be empty.
    var schema: Substring { name.lastIndex(of: ".").map { name[..<$0] } ?? "" }

    /// Whether a name refers to this table: in full, or without a part of its schema.
    func isMeant(by given: String) -> Bool { name == given || name.hasSuffix("." + given) }
}
