import Testing

@testable import VaultImport

/// Dumps are read, and never run.
struct SQLDumpTests {
    private static let values = "'alice','acme','t'"

    private func found(_ text: String) async throws -> [String?] {
        try await outcomes("-- dump\n" + text).map { $0.login?.source.userKey ?? $0.words }
    }

    @Test(arguments: [
        "INSERT INTO mine (\"user\", provider, access_token) VALUES (\(values));",
        "insert into public.mine(user,provider,access_token)values(\(values));",
        "CREATE TABLE mine (user TEXT, provider TEXT, access_token TEXT, PRIMARY KEY (user));\nINSERT INTO mine VALUES(\(values));",
        "CREATE TABLE IF NOT EXISTS \"mine\" (user varchar(10) DEFAULT ');,' NOT NULL CHECK (user <> ','), provider TEXT, access_token TEXT,\n CONSTRAINT k UNIQUE (user));INSERT INTO \"mine\" VALUES(\(values));",
        "INSERT OR IGNORE INTO mine (user, provider, access_token) VALUES (\(values)) ON CONFLICT DO NOTHING;",
        "INSERT INTO mine (user, provider, access_token) OVERRIDING SYSTEM VALUE VALUES (\(values));",
        "INSERT INTO mine (user, provider, access_token) VALUES ('alice'::text, 'acme'::character varying(20), E't');",
        "/* INSERT INTO mine VALUES (1,2,3); */ INSERT INTO mine (user, provider, access_token) VALUES (\(values)) -- ;\n;",
        "COPY public.mine (\"user\", provider, access_token) FROM stdin;\nalice\tacme\tt\n\\.\n",
        "COPY mine (user, provider, access_token) FROM stdin;\r\nalice\tacme\tt\r\n\\.\r\n",
    ])
    func rowsAreFoundInEverySpelling(_ text: String) async throws {
        #expect(try await found(text) == ["alice"])
    }

    @Test func bodiesOfTriggersAndFunctionsAreNoRows() async throws {
        let text = """
            CREATE TABLE mine (user TEXT, provider TEXT, access_token TEXT);
            CREATE TRIGGER t AFTER INSERT ON x BEGIN
              INSERT INTO mine VALUES ('no', 'no', 'no'); INSERT INTO mine VALUES (new.a, 'no', 'no');
            END;
            CREATE FUNCTION f() RETURNS void AS $body$ INSERT INTO mine VALUES ('no','no','no'); $body$ LANGUAGE sql;
            SELECT 'INSERT INTO mine VALUES (1,2,3);';
            INSERT INTO mine VALUES (\(Self.values));
            """
        #expect(try await found(text) == ["alice"])
    }

    @Test func anExpressionIsARejectWithItsLine() async throws {
        let text =
            "INSERT INTO mine (user, provider, access_token) VALUES\n(\(Self.values)),\n(lower('A'), 'acme', 't2'),\n('bob','acme',(SELECT ')')),\n('carol','acme','t3');"
        let rows = try await outcomes("-- dump\n" + text)
        #expect(
            rows.map { $0.login?.source.userKey ?? $0.words } == [
                "alice", "rejected: unsupportedLiteral", "rejected: unsupportedLiteral", "carol",
            ])
        #expect(rows.map(\.place.row) == [3, 4, 5, 6])
    }

    @Test func copyUndoesItsEscapes() async throws {
        let line = #"a\tb\\c\nd\x41\101\v\q"# + "\tacme\t" + #"\\x41"# + "\n" + #"\N"# + "\tacme\tt\n"
        let rows = try await outcomes("-- dump\nCOPY mine (user, provider, access_token) FROM stdin;\n\(line)\\.\n")
        #expect(rows.map { $0.login?.source.userKey ?? $0.words } == ["a\tb\\c\ndAA\u{B}q", "rejected: noUser"])
        #expect(rows.first?.login?.source.accessToken?.reveal() == #"\x41"#)
    }

    @Test func aCopyBlockWithoutItsEndIsACutFile() async throws {
        let error = #expect(throws: ImportError.self) {
            try ImportSource(
                bytes: Array("-- dump\nCOPY mine (user, provider, access_token) FROM stdin;\na\tb\tc\n".utf8))
        }
        #expect(error?.code == .damagedSource)
    }

    @Test func backslashesAreEscapesInMySQLAlone() async throws {
        let statement = #"INSERT INTO mine (user, provider, access_token) VALUES ('a\\b','acme','t');"#
        #expect(try await found(statement) == [#"a\\b"#])
        #expect(try await found("-- MySQL dump 10.13\n" + statement) == [#"a\b"#])
    }

    @Test func bytesAreThoseOfTheirDigits() async throws {
        let text =
            "-- MySQL dump\nINSERT INTO mine (user, provider, access_token) VALUES (X'6162','acme','t'),(0x63,'acme','u'),(_binary 'd','acme','v');"
        #expect(try await found(text) == ["ab", "c", "d"])
    }
}
