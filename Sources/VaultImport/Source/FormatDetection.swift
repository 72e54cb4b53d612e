import VaultSQLite

/// Which format a file has, by its first bytes.
enum FormatDetection {
    static func format(of head: ArraySlice<UInt8>, hasCSVPlan: Bool) throws(ImportError) -> SourceFormat {
        var head = head
        if head.starts(with: ForeignDatabase.magic) { return .sqlite }
        try refuse(head)
        if head.starts(with: [0xEF, 0xBB, 0xBF]) { head = head.dropFirst(3) }
        let text = head.drop { $0 <= 0x20 }
        guard let first = text.first else { throw ImportError(.unknownFormat, "the source is empty") }
        if first == UInt8(ascii: "{") { return isOneDocument(text) ? .json : .jsonLines }
        if first == UInt8(ascii: "[") {
            throw ImportError(
                .unknownFormat, "the source is one JSON array", hint: "make lines of it: jq -c '.[]' FILE")
        }
        if !hasCSVPlan, isSQL(text) { return .sqlDump }
        let line = text.prefix { $0 != 0x0A && $0 != 0x0D }
        guard line.contains(UInt8(ascii: ",")), !line.contains(0) else {
            throw ImportError(
                .unknownFormat, "the source is no SQLite database, JSON, CSV or SQL dump",
                hint: "docs/import.md shows how to make JSON Lines of any table")
        }
        return .csv
    }

    /// Formats that are known, and not read.
    private static func refuse(_ head: ArraySlice<UInt8>) throws(ImportError) {
        if head.starts(with: Array("PGDMP".utf8)) {
            throw ImportError(
                .unknownFormat, "the source is a dump in PostgreSQL's own format",
                hint: "make text of it: pg_restore --data-only --file=- FILE")
        }
        if head.starts(with: [0x1F, 0x8B]) || head.starts(with: [0x28, 0xB5, 0x2F, 0xFD]) {
            throw ImportError(.unknownFormat, "the source is compressed", hint: "unpack it first")
        }
        if head.starts(with: [0xFF, 0xFE]) || head.starts(with: [0xFE, 0xFF]) {
            throw ImportError(
                .unknownFormat, "the source is UTF-16", hint: "make UTF-8 of it: iconv -f UTF-16 -t UTF-8 FILE")
        }
    }

    /// A document over several lines, or the sections of MSAL's cache on one.
    private static func isOneDocument(_ text: ArraySlice<UInt8>) -> Bool {
        let line = text.prefix { $0 != 0x0A }
        let isBroken = line.count < text.count && !line.contains(UInt8(ascii: "\""))
        if isBroken { return true }
        let start = String(decoding: text.prefix(4_096), as: UTF8.self)
        return ["AccessToken", "RefreshToken", "IdToken", "Account", "AppMetadata"].contains { section in
            start.hasPrefix("{\"\(section)\"") || start.hasPrefix("{ \"\(section)\"")
        }
    }

    private static func isSQL(_ text: ArraySlice<UInt8>) -> Bool {
        let word = String(decoding: text.prefix(64), as: UTF8.self).uppercased()
        return [
            "--", "/*", "#", "\\", "PRAGMA ", "BEGIN", "INSERT ", "REPLACE ", "COPY ", "CREATE ", "SET ", "START ",
            "LOCK ", "DROP ", "USE ", "SELECT PG_CATALOG", "ALTER ", "TRUNCATE ",
        ]
        .contains { word.hasPrefix($0) }
    }
}
