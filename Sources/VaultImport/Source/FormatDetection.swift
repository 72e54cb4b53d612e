import VaultSQLite

/// Detects the format of a file from its first bytes.
enum FormatDetection {
    /// - Parameter head: In UTF-8, and decompressed.
    static func format(
        of head: ArraySlice<UInt8>, _ plan: ImportPlan, isUTF16: Bool = false
    ) throws(ImportError) -> SourceFormat {
        var head = head
        if head.starts(with: ForeignDatabase.magic) { return .sqlite }
        try refuse(head)
        if head.starts(with: [0xEF, 0xBB, 0xBF]) { head = head.dropFirst(3) }
        let text = head.drop { $0 <= 0x20 }
        guard let first = text.first else {
            throw ImportError(
                .unknownFormat, "the source is empty", hint: "check the program that writes it, and that it has ended")
        }
        if first == UInt8(ascii: "{") { return isOneDocument(text) ? .json : .jsonLines }
        if first == UInt8(ascii: "[") {
            throw ImportError(
                .unknownFormat, "the source is one JSON array", hint: "make lines of it: jq -c '.[]' FILE")
        }
        // A header is given for a CSV file or, together with a table, for a dump that names no columns.
        if plan.header == nil || plan.table != nil, isSQL(text) { return .sqlDump }
        // Control characters, without those of lines, of pages and of escapes: no text begins with them.
        if text.prefix(512).contains(where: { $0 < 0x07 || 0x0E..<0x1B ~= $0 }) {
            throw ImportError(
                .unknownFormat, "the source is binary data, and no SQLite database",
                hint: "name the other system's database, or a dump or an export of it as text")
        }
        guard CSVDialect(head, plan, isUTF16: isUTF16) != nil else {
            if text.prefix(while: { $0 != 0x0A }).contains(UInt8(ascii: "|")) {
                throw ImportError(
                    .unknownFormat, "the source seems to be CSV with the separator |, which is not supported",
                    hint: "separate its values by tabs, which no token has: tr '|' '\\t' <FILE >NEW")
            }
            throw ImportError(
                .unknownFormat, "the source is not a SQLite database, JSON, CSV or a SQL dump",
                hint: "docs/import.md shows how to make JSON Lines of any table")
        }
        return .csv
    }

    /// Known but unsupported formats: their first bytes, and advice.
    private static let strangers: [(magic: [UInt8], words: String, hint: String)] = [
        (
            Array("PGDMP".utf8), "a dump in PostgreSQL's own format",
            "make text of it: pg_restore --data-only --file=- FILE"
        ),
        ([0x28, 0xB5, 0x2F, 0xFD], "compressed with zstd", "unpack it first: zstd -d FILE"),
        ([0xFD, 0x37, 0x7A, 0x58, 0x5A, 0x00], "compressed with xz", "unpack it first: xz --decompress --keep FILE"),
        (Array("BZh".utf8), "compressed with bzip2", "unpack it first: bunzip2 --keep FILE"),
        ([0x37, 0x7A, 0xBC, 0xAF], "a 7z archive", "unpack it first"),
        (
            Array("PK\u{3}\u{4}".utf8), "a spreadsheet, or another ZIP archive",
            "save a spreadsheet as CSV; unpack an archive"
        ),
        ([0xD0, 0xCF, 0x11, 0xE0], "a spreadsheet of an old Excel", "save it as CSV"),
        (
            Array("age-encryption.org/".utf8), "sealed with age",
            "open it first: age -d -i IDENTITY FILE >logins.jsonl"
        ),
        (Array("-----BEGIN AGE ".utf8), "sealed with age", "open it first: age -d -i IDENTITY FILE >logins.jsonl"),
        (Array("PAR1".utf8), "a Parquet file", "make JSON Lines of it: docs/import.md"),
        (
            [0xFF, 0xFE, 0x00, 0x00], "UTF-32", "make UTF-8 of it: iconv -f UTF-32 -t UTF-8 FILE"
        ),
    ]

    private static func refuse(_ head: ArraySlice<UInt8>) throws(ImportError) {
        if let known = strangers.first(where: { head.starts(with: $0.magic) }) {
            throw ImportError(.unknownFormat, "the source is \(known.words)", hint: known.hint)
        }
        // POSIX tar's mark. PostgreSQL also writes dumps of that kind, with the table of contents first.
        guard head.dropFirst(257).starts(with: Array("ustar".utf8)) else { return }
        let isDump = head.starts(with: Array("toc.dat".utf8))
        throw ImportError(
            .unknownFormat,
            isDump ? "the source is a dump of PostgreSQL in a tar archive" : "the source is a tar archive",
            hint: isDump ? "make text of it: pg_restore --data-only --file=- FILE" : "unpack it first: tar -xf FILE")
    }

    /// A document over several lines, or the sections of MSAL's cache on one.
    private static func isOneDocument(_ text: ArraySlice<UInt8>) -> Bool {
        let line = text.prefix { $0 != 0x0A }
        let isBroken = line.count < text.count && !line.contains(UInt8(ascii: "\""))
        if isBroken { return true }
        let start = String(decoding: text.prefix(4_096), as: UTF8.self)
        // `{"logins": [{…}]}` on one line.
        let front = start.filter { !$0.isWhitespace }.prefix { $0 != "[" }
        let isOneLine = !text.dropFirst(line.count).contains { $0 > 0x20 }
        if isOneLine, front.hasPrefix("{\""), front.hasSuffix("\":"), !front.contains(",") { return true }
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
