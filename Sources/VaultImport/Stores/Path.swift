import OAuthClient

/// The path of a value: `column` of the row itself, or `part.column` of a linked row or document.
///
/// Columns are folded; members of a JSON document within the row are not.
struct Path: Hashable, Sendable, ExpressibleByStringLiteral {
    let part: String
    let column: String

    init(stringLiteral text: String) { self.init(text) }

    init(part: String, column: String) {
        self.part = part
        self.column = column
    }

    init(_ text: String) {
        let pieces = text.split(separator: ".", maxSplits: 1).map(String.init)
        part = pieces.count == 2 ? pieces[0] : ""
        column = pieces.last ?? ""
    }
}

/// A row with its linked rows, and the documents that it holds as text.
struct StoreRow {
    let main: Record
    private var links: [(part: String, record: Record)] = []
    private var documents: [(part: String, object: JSONObject)] = []

    /// The decrypted values of encrypted columns.
    private var opened: [(column: String, text: String)] = []

    init(_ main: Record) { self.main = main }

    mutating func replace(_ column: String, with text: String) { opened.append((column, text)) }

    mutating func add(_ part: String, _ record: Record) { links.append((part, record)) }
    mutating func add(_ part: String, _ object: JSONObject) { documents.append((part, object)) }

    func has(_ part: String) -> Bool {
        links.contains { $0.part == part } || documents.contains { $0.part == part }
    }

    func document(_ part: String) -> JSONObject? { documents.first { $0.part == part }?.object }

    subscript(path: Path) -> RawValue? {
        if path.part.isEmpty {
            if let opened = opened.first(where: { $0.column == path.column }) { return .text(opened.text) }
            return main[path.column]
        }
        if let document = document(path.part) { return document[path.column].map(RawValue.init) }
        return links.first { $0.part == path.part }?.record[path.column]
    }

    /// The value of the first path that exists and is not null.
    subscript(paths: [Path]) -> RawValue? {
        for path in paths {
            if let value = self[path], !value.isNull { return value }
        }
        return nil
    }
}
