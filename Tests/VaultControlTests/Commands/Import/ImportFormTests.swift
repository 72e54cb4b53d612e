import Foundation
import OAuthClient
import TestSupport
import Testing
import VaultControl
import VaultImport

/// Sources in the forms in which people have them.
@Suite struct ImportFormTests {
    private static let header = ["user", "provider", "access_token", "refresh_token", "label"]

    private static func text(_ separator: String, _ rows: [[String]] = [["u", "acme", "A;1", "R,1", "x"]]) -> String {
        ([header] + rows).map { $0.joined(separator: separator) }.joined(separator: "\r\n") + "\r\n"
    }

    private static let separated: [(text: String, options: [String])] = [
        ("user;provider;access_token;refresh_token;label\r\nu;acme;\"A;1\";R,1;x\r\n", []),
        ("\u{FEFF}sep=;\r\nuser;provider;access_token;refresh_token;label\r\nu;acme;\"A;1\";R,1;x\r\n", []),
        (text("\t"), []),
        ("u;acme;\"A;1\";R,1;x\n", ["--columns", "user,provider,access_token,refresh_token,label"]),
        ("u;acme;\"A;1\";R,1;x\n", ["--columns", header.joined(separator: ","), "--separator", "semicolon"]),
        ("user,provider,access_token,refresh_token,label\nu,acme,A;1,\"R,1\",x\n", ["--separator", "comma"]),
    ]

    @Test(arguments: 0..<6) func separatorsAreSeen(_ index: Int) async throws {
        try await ImportBench.with { bench in
            let (text, options) = Self.separated[index]
            let source = try bench.file("rows.csv", text)
            let result = try await bench.harness.run(["import", "run", source, "--json"] + options)
            #expect(try ImportBench.counts(result) == ["added": 1], "\(result.error)")
            let login = try await bench.logins()["u"]
            #expect(login?.accessToken?.reveal() == "A;1" && login?.refreshToken?.reveal() == "R,1")
            #expect(login?.label == "x")
        }
    }

    @Test func tabsComeWithTheEscapesOfDatabases() async throws {
        try await ImportBench.with { bench in
            let source = try bench.file(
                "batch.tsv",
                "user\tprovider\taccess_token\trefresh_token\tlabel\texpires_at\n"
                    + "u\\\\x\tacme\tA\\\\1\tNULL\ttwo\\nlines\t\\N\n" + "v\tacme\tNULL\tR\tNULL\t2100000000\n")
            #expect(try await bench.run(source) == ["added": 2])
            let logins = try await bench.logins()
            #expect(logins["u\\x"]?.accessToken?.reveal() == "A\\1" && logins["u\\x"]?.refreshToken == nil)
            #expect(logins["u\\x"]?.label == "two\nlines" && logins["u\\x"]?.expiresAt == nil)
            #expect(logins["v"]?.accessToken == nil && logins["v"]?.label == nil)
        }
    }

    @Test(arguments: [true, false], [true, false])
    func utf16IsRead(_ isBigEndian: Bool, _ hasMark: Bool) async throws {
        try await ImportBench.with { bench in
            var text = hasMark ? "\u{FEFF}" : ""
            text += Self.text("\t", [["ü𝄞", "acme", "A\\1", "R", "x"], ["v", "acme", "A2", "R2", "y"]])
            var bytes = text.utf16.flatMap {
                isBigEndian ? [UInt8($0 >> 8), UInt8($0 & 0xFF)] : [UInt8($0 & 0xFF), UInt8($0 >> 8)]
            }
            let source = try bench.file("excel.txt", bytes: bytes)
            #expect(try await bench.run(source) == ["added": 2])
            // Spreadsheets escape nothing.
            #expect(try await bench.logins()["ü𝄞"]?.accessToken?.reveal() == "A\\1")
            bytes = ImportBench.line("j", subject: "j", refresh: "R3").utf16.flatMap {
                isBigEndian ? [UInt8($0 >> 8), UInt8($0 & 0xFF)] : [UInt8($0 & 0xFF), UInt8($0 >> 8)]
            }
            #expect(try await bench.run(try bench.file("lines.jsonl", bytes: bytes)) == ["added": 1])
        }
    }

    /// Two members, as `cat a.gz b.gz` makes them.
    private static let packed =
        "H4sIAAAAAAACA6tWKi1OLVKyUkpU0lEqKMovy0yBcJNzU4EixaVJWanJJUABQyCvKDWtKLU4I74kPzs1DygWpJuoVMsFACUk"
        + "T7lDAAAAH4sIAAAAAAACA6tWKi1OLVKyUkpS0lEqKMovy0wBcxOTc1OBIsWlSVmpySVAASMgryg1rSi1OCO+JD87NQ8oFqSb"
        + "pFTLBQCGduSGQwAAAA=="

    @Test func gzipIsRead() async throws {
        try await ImportBench.with { bench in
            let bytes = try [UInt8](#require(Data(base64Encoded: Self.packed)))
            let source = try bench.file("rows.jsonl.gz", bytes: bytes + [UInt8](repeating: 0, count: 512))
            #expect(try await bench.run(source) == ["added": 2])
            #expect(try await bench.logins()["b"]?.refreshToken?.reveal() == "R-b")
            #expect(try await bench.run(source) == ["unchanged": 2])
            for (name, broken, word) in [
                ("cut", Array(bytes.dropLast(9)), "ends in the middle"),
                ("short", Array(bytes.prefix(12)), "ends in the middle"),
                ("odd", bytes + [1, 2, 3], "damaged"),
                ("flipped", bytes.enumerated().map { $0.offset == 30 ? $0.element ^ 0xFF : $0.element }, "damaged"),
            ] {
                let (code, text) = try await bench.failure(try bench.file(name, bytes: broken))
                #expect(code == "damagedSource" && text.contains(word), "\(name): \(code) \(text)")
            }
        }
    }

    @Test func whatIsNotReadSaysSoByName() async throws {
        try await ImportBench.with { bench in
            var tar = [UInt8](repeating: 0, count: 1_024)
            tar.replaceSubrange(0..<7, with: Array("toc.dat".utf8))
            tar.replaceSubrange(257..<262, with: Array("ustar".utf8))
            for (bytes, words) in [
                (Array("PK\u{3}\u{4}xxxx".utf8), "save a spreadsheet as CSV"),
                ([0xFD, 0x37, 0x7A, 0x58, 0x5A, 0], "xz --decompress"), (Array("BZh9".utf8), "bunzip2"),
                ([0x28, 0xB5, 0x2F, 0xFD], "zstd -d"), (Array("PGDMP".utf8), "pg_restore"), (tar, "pg_restore"),
                (Array("[{}]".utf8), "jq -c"),
            ] as [([UInt8], String)] {
                let (code, text) = try await bench.failure(try bench.file("odd", bytes: bytes))
                #expect(code == "unknownFormat" && text.contains(words), "\(text)")
            }
        }
    }

    // MARK: Dumps

    @Test func aDumpWithoutColumnNamesSaysHowToGetThem() async throws {
        try await ImportBench.with { bench in
            let rows = "INSERT INTO `logins` VALUES ('u','acme','A','R'),('v','acme','B','S');\n"
            let source = try bench.file("dump.sql", "-- MySQL dump 10.13\n" + rows)
            let (code, text) = try await bench.failure(source)
            #expect(code == "unknownStore" && text.contains("“logins”") && text.contains("--complete-insert"))
            let columns = "user,provider,access_token,refresh_token"
            #expect(try await bench.run(source, "--table", "logins", "--columns", columns) == ["added": 2])
            #expect(try await bench.logins()["v"]?.refreshToken?.reveal() == "S")
            let copied = try bench.file(
                "copy.sql", "-- PostgreSQL database dump\nCOPY public.logins FROM stdin;\nw\tacme\tC\tT\n\\.\n")
            #expect(try await bench.failure(copied).text.contains("public.logins"))
            #expect(
                try await bench.run(copied, "--table", "logins", "--columns", columns, "--name", "c") == ["added": 1])
        }
    }

    private static func accounts(_ schema: String, _ user: String) -> String {
        """
        COPY \(schema).accounts ("userId", type, provider, "providerAccountId", access_token, refresh_token) FROM stdin;
        \(user)\toauth\tacme\t\(schema)-1\tA-\(schema)\tR-\(schema)
        \\.
        COPY \(schema).users (id, name, email) FROM stdin;
        \(user)\tN\t\(user)@\(schema).example
        \\.

        """
    }

    @Test func tablesOfSeveralSchemasAreToldApart() async throws {
        try await ImportBench.with { bench in
            // Users of two schemas, tokens of one.
            let one = try bench.file(
                "one.sql",
                "-- PostgreSQL database dump\nCOPY auth.users (id, email) FROM stdin;\n0\tx\n\\.\n"
                    + Self.accounts("public", "7"))
            #expect(try await bench.run(one, "--user-key", "email") == ["added": 1])
            #expect(try await bench.logins()["7@public.example"]?.accessToken?.reveal() == "A-public")
            #expect(try await bench.run(one, "--table", "accounts", "--user-key", "email") == ["unchanged": 1])
            // Of both.
            let both = try bench.file(
                "both.sql",
                "-- PostgreSQL database dump\n" + Self.accounts("public", "7") + Self.accounts("next_auth", "9"))
            #expect(try await bench.failure(both).code == "severalStores")
            #expect(try await bench.failure(both, "--table", "accounts").text.contains("next_auth.accounts"))
            let options = ["--table", "next_auth.accounts"]
            #expect(
                try await bench.run(both, options[0], options[1], "--user-key", "email", "--name", "b") == ["added": 1])
            #expect(try await bench.logins()["9@next_auth.example"]?.accessToken?.reveal() == "A-next_auth")
            // The users are elsewhere, and in two places.
            let far = try bench.file(
                "far.sql",
                "-- PostgreSQL database dump\n"
                    + Self.accounts("public", "7").replacing("COPY public.users", with: "COPY a.users")
                    + "COPY b.users (id, email) FROM stdin;\n7\tb@b.example\n\\.\n")
            let refusal = try await bench.failure(far)
            #expect(refusal.code == "severalStores" && refusal.text.contains("--user-table"), "\(refusal.text)")
            let named = try await bench.run(far, "--user-table", "b.users", "--user-key", "email", "--name", "f")
            #expect(named == ["alreadyThere": 1] || named == ["added": 1], "\(named)")
            #expect(try await bench.failure(far, "--user-table", "nobody").code == "unfitPlan")
        }
    }

    @Test func databasesOfOneDumpAreToldApart() async throws {
        try await ImportBench.with { bench in
            func database(_ name: String, _ user: String) -> String {
                "USE `\(name)`;\nINSERT INTO `logins` (`user`,`provider`,`refresh_token`) VALUES ('\(user)','acme','R-\(user)');\n"
            }
            let source = try bench.file("all.sql", "-- MySQL dump\n" + database("shop", "s") + database("blog", "b"))
            #expect(try await bench.failure(source, "--table", "logins").code == "severalStores")
            #expect(try await bench.run(source, "--table", "blog.logins") == ["added": 1])
            #expect(try await bench.logins().keys.sorted() == ["b"])
            let missing = try await bench.failure(source, "--table", "wiki.logins")
            #expect(missing.text.contains("wiki.logins") && missing.text.contains("shop.logins"))
        }
    }

    @Test func missingOwnersPointToTheirTable() async throws {
        try await ImportBench.with { bench in
            let source = try bench.database(
                "app.sqlite3",
                "CREATE TABLE accounts (userId TEXT, provider TEXT, providerAccountId TEXT, access_token TEXT)",
                "CREATE TABLE users (id TEXT)", "CREATE TABLE people (id TEXT)", "INSERT INTO people VALUES ('7')",
                "INSERT INTO accounts VALUES ('7', 'acme', 's', 'A')")
            let (code, text) = try await bench.failure(source)
            #expect(code == "nothingUsable" && text.contains("--user-table"))
            #expect(try await bench.run(source, "--user-table", "people") == ["added": 1])
        }
    }

    // MARK: Older versions

    @Test func nextAuthBeforeVersion4IsRead() async throws {
        try await ImportBench.with { bench in
            let source = try bench.database(
                "v3.sqlite3",
                "CREATE TABLE users (id INTEGER, name TEXT, email TEXT)",
                "INSERT INTO users VALUES (7, 'N', 'n@example.com')",
                "CREATE TABLE accounts (id INTEGER, compound_id TEXT, user_id INTEGER, provider_type TEXT, provider_id TEXT, "
                    + "provider_account_id TEXT, refresh_token TEXT, access_token TEXT, access_token_expires TEXT, "
                    + "created_at TEXT, updated_at TEXT)",
                "INSERT INTO accounts VALUES (1, 'c', 7, 'oauth', 'acme', 's7', 'R', 'A', '2036-01-01T00:00:00.000Z', '', '')",
                "INSERT INTO accounts VALUES (2, 'd', 7, 'email', 'email', 'n@example.com', NULL, 'x', NULL, '', '')")
            let result = try await bench.harness.run("import", "run", source, "--user-key", "email", "--json")
            #expect(try ImportBench.counts(result) == ["added": 1, "notOAuth2": 1], "\(result.error)")
            #expect(try result.json["kind"] as? String == "authjs")
            let login = try await bench.logins()["n@example.com"]
            #expect(login?.subject == "s7" && login?.refreshToken?.reveal() == "R")
            #expect(login?.expiresAt?.timeIntervalSince1970 == 2_082_758_400)
        }
    }

    @Test func betterAuthBeforeVersion1IsRead() async throws {
        try await ImportBench.with { bench in
            let source = try bench.database(
                "ba.sqlite3",
                "CREATE TABLE account (id TEXT, accountId TEXT, providerId TEXT, userId TEXT, accessToken TEXT, "
                    + "refreshToken TEXT, idToken TEXT, expiresAt TEXT, password TEXT)",
                "INSERT INTO account VALUES ('1', 's', 'acme', 'u', 'A', 'R', NULL, '2036-01-01T00:00:00.000Z', NULL)")
            #expect(try await bench.run(source) == ["added": 1])
            #expect(try await bench.logins()["u"]?.expiresAt?.timeIntervalSince1970 == 2_082_758_400)
        }
    }

    @Test func extraDataThatWasEscapedAgainIsRead() async throws {
        try await ImportBench.with { bench in
            let data = #"{"access_token":"A","refresh_token":"R"}"#
            func quoted(_ text: String) -> String {
                "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
            }
            let once = quoted(data)
            let forms = [data, once, quoted(once), String(once.dropFirst().dropLast()), "\"\"", "null", "{}", ""]
            let table =
                "CREATE TABLE social_auth_usersocialauth (id INTEGER, provider TEXT, uid TEXT, user_id INTEGER, extra_data TEXT)"
            let source = try bench.database("social.sqlite3", table)
            let connection = try bench.connection("social.sqlite3")
            for (number, form) in forms.enumerated() {
                let text = form.replacing("'", with: "''").replacing("R", with: "R\(number)")
                try connection.execute(
                    "INSERT INTO social_auth_usersocialauth VALUES (\(number), 'acme', 's\(number)', \(number), '\(text)')"
                )
            }
            #expect(try await bench.run(source) == ["added": 4, "noToken": 4])
            #expect(try await bench.logins()["2"]?.refreshToken?.reveal() == "R2")
        }
    }
}
