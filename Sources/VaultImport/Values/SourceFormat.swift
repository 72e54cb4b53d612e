/// In what a store is kept.
public enum SourceFormat: String, Hashable, Sendable, CaseIterable {
    /// A database file of SQLite, in use or not.
    case sqlite
    /// One JSON object a line.
    case jsonLines = "json-lines"
    /// RFC 4180.
    case csv
    /// What `pg_dump`, `mysqldump` or `sqlite3 .dump` writes as text: `INSERT` statements and `COPY` blocks.
    case sqlDump = "sql-dump"
    /// One JSON document.
    case json

    /// For a sentence.
    var words: String {
        switch self {
        case .sqlite: "a SQLite database"
        case .jsonLines: "JSON Lines"
        case .csv: "a CSV file"
        case .sqlDump: "a dump"
        case .json: "one JSON document"
        }
    }

    /// Whether its rows come from a table that had constraints.
    var hasConstraints: Bool { self == .sqlite || self == .sqlDump }
}
