/// The file format of a token store.
public enum SourceFormat: String, Hashable, Sendable, CaseIterable {
    /// A database file of SQLite, in use or not.
    case sqlite
    /// One JSON object per line.
    case jsonLines = "json-lines"
    /// RFC 4180.
    case csv
    /// The text output of `pg_dump`, `mysqldump` or `sqlite3 .dump`: `INSERT` statements and `COPY` blocks.
    case sqlDump = "sql-dump"
    /// One JSON document.
    case json

    /// The name within a sentence.
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
