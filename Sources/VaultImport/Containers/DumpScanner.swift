/// The tables and rows of a SQL dump, in order.
final class DumpScanner {
    enum Item {
        /// A table and its columns.
        case table(String, [String])
        /// A table with rows whose columns the statement does not name.
        case rows(String)
        /// A row, its line, and its columns if the statement names them.
        case row(String, Int, [String]?, [RawValue])
        case fault(String, Int, RejectReason)
    }

    private enum State {
        case statement
        case insert(String, [String]?)
        case copy(String, [String]?)
    }

    private let lexer: DumpLexer
    private var state = State.statement
    /// The tables whose rows are wanted. Rows of others are skipped.
    private let wanted: Set<String>
    /// The database of the statements, in a dump of several: their tables may have the same names.
    private var database = ""

    var progress: Double? { lexer.stream.progress }

    init(_ stream: ByteStream, longest: Int, wanted: Set<String>) {
        lexer = DumpLexer(stream, longest: longest)
        self.wanted = wanted
    }

    /// Nil at the end.
    func next() throws(ImportError) -> Item? {
        while true {
            let item: Item?
            switch state {
            case .statement:
                lexer.skipBlank()
                guard lexer.stream.peek() != nil else {
                    try lexer.stream.check()
                    return nil
                }
                item = statement()
            case .insert(let table, let columns): item = row(table, columns)
            case .copy(let table, let columns): item = try line(table, columns)
            }
            if let item { return item }
        }
    }

    private func statement() -> Item? {
        if lexer.stream.peek() == UInt8(ascii: "\\") {
            command()
            return nil
        }
        let word = lexer.word().uppercased()
        switch word {
        case "INSERT", "REPLACE": return insert()
        case "COPY": return copy()
        case "CREATE": return create()
        case "DELIMITER": lexer.skipLine()
        case "USE":
            database = lexer.name()?.text ?? ""
            lexer.skipStatement()
        case "": lexer.skipUnknownByte()
        default: lexer.skipStatement()
        }
        return nil
    }

    /// A psql command; one of them names the database.
    private func command() {
        _ = lexer.stream.next()
        let word = lexer.stream.peek().map(DumpLexer.isNameByte) == true ? lexer.word() : ""
        if word == "connect" || word == "c" { database = lexer.name()?.text ?? "" }
        lexer.skipLine()
    }

    private func tableName() -> String? {
        guard let name = lexer.qualifiedName() else { return nil }
        return database.isEmpty ? name : database + "." + name
    }

    private func insert() -> Item? {
        let line = lexer.stream.line
        var word = lexer.word().uppercased()
        while ["OR", "IGNORE", "REPLACE", "DELAYED", "LOW_PRIORITY", "HIGH_PRIORITY"].contains(word) {
            word = lexer.word().uppercased()
        }
        guard word == "INTO", let table = tableName() else {
            lexer.skipStatement()
            return nil
        }
        let columns = lexer.nameList()
        word = lexer.word().uppercased()
        while ["OVERRIDING", "SYSTEM", "USER", "VALUE"].contains(word) { word = lexer.word().uppercased() }
        guard word == "VALUES" else {
            lexer.skipStatement()
            return .fault(table, line, .unsupportedLiteral)
        }
        state = .insert(table, columns)
        return columns.map { .table(table, $0) } ?? .rows(table)
    }

    private func row(_ table: String, _ columns: [String]?) -> Item? {
        guard lexer.take(UInt8(ascii: "(")) else {
            // Skips a semicolon, or a clause after the last row.
            lexer.skipStatement()
            state = .statement
            return nil
        }
        let line = lexer.stream.line
        let tuple = lexer.tuple()
        if !lexer.take(UInt8(ascii: ",")) {
            lexer.skipStatement()
            state = .statement
        }
        guard wanted.contains(table) else { return nil }
        switch tuple {
        case .success(let values): return .row(table, line, columns, values)
        case .failure(let fault): return .fault(table, line, fault.reason)
        }
    }

    private func copy() -> Item? {
        guard let table = tableName() else {
            lexer.skipStatement()
            return nil
        }
        let columns = lexer.nameList()
        guard lexer.word().uppercased() == "FROM", lexer.word().uppercased() == "STDIN" else {
            lexer.skipStatement()
            return nil
        }
        lexer.skipStatement()
        lexer.skipLine()
        state = .copy(table, columns)
        return columns.map { .table(table, $0) } ?? .rows(table)
    }

    private func line(_ table: String, _ columns: [String]?) throws(ImportError) -> Item? {
        guard let line = lexer.stream.nextLine(longest: lexer.longest) else {
            try lexer.stream.check()
            throw ImportError(
                .damagedSource, "the dump ends in the middle of the table “\(table)”", hint: "make the dump again")
        }
        if line.bytes.elementsEqual("\\.".utf8) {
            state = .statement
            return nil
        }
        guard wanted.contains(table) else { return nil }
        if line.isTooLong { return .fault(table, line.number, .tooLong) }
        return .row(table, line.number, columns, CopyText.values(line.bytes))
    }

    private func create() -> Item? {
        var word = lexer.word().uppercased()
        while ["TEMP", "TEMPORARY", "UNLOGGED", "GLOBAL", "LOCAL"].contains(word) { word = lexer.word().uppercased() }
        if word == "TRIGGER" {
            lexer.skipBody()
            return nil
        }
        guard word == "TABLE" else {
            lexer.skipStatement()
            return nil
        }
        return table()
    }

    private func table() -> Item? {
        guard var name = lexer.qualifiedName() else {
            lexer.skipStatement()
            return nil
        }
        if name.uppercased() == "IF" {
            _ = (lexer.word(), lexer.word())
            name = lexer.qualifiedName() ?? ""
        }
        if !name.isEmpty, !database.isEmpty { name = database + "." + name }
        guard !name.isEmpty, lexer.take(UInt8(ascii: "(")) else {
            lexer.skipStatement()
            return nil
        }
        let columns = lexer.columnNames()
        lexer.skipStatement()
        return .table(name, columns)
    }
}

extension DumpLexer {
    /// Keywords that begin an entry of `CREATE TABLE` other than a column.
    private static let clauses: Set<String> = [
        "CONSTRAINT", "PRIMARY", "UNIQUE", "FOREIGN", "CHECK", "EXCLUDE", "LIKE",
    ]
    private static let clausesOfMySQL: Set<String> = ["KEY", "INDEX", "FULLTEXT", "SPATIAL", "PERIOD"]

    /// The columns of a `CREATE TABLE`, after its opening parenthesis.
    fileprivate func columnNames() -> [String] {
        var names: [String] = []
        while names.count < 2_000 {
            guard let name = name() else { break }
            let word = name.text.uppercased()
            let isClause = Self.clauses.contains(word) || (isMySQL && Self.clausesOfMySQL.contains(word))
            if name.isQuoted || !isClause { names.append(name.text) }
            guard skipEntry() else { break }
        }
        return names
    }

    /// Skips the rest of an entry. Returns whether another one follows.
    private func skipEntry() -> Bool {
        var depth = 0
        while let byte = stream.next() {
            switch byte {
            case UInt8(ascii: "("): depth += 1
            case UInt8(ascii: ")"):
                if depth == 0 { return false }
                depth -= 1
            case UInt8(ascii: ",") where depth == 0: return true
            default: skipRest(of: byte)
            }
        }
        return false
    }

    /// Skips a byte that begins no statement, usually a stray semicolon.
    fileprivate func skipUnknownByte() {
        guard let byte = stream.next() else { return }
        if byte != UInt8(ascii: ";") {
            skipRest(of: byte)
            skipStatement()
        }
    }
}
