import Foundation
import OAuthClient
import Testing
import VaultControl
import VaultImport

/// What the other options of `import` do, each by what comes of it.
@Suite struct ImportOptionTests {
    private static func app(_ bench: ImportBench) throws -> String {
        try bench.database(
            "app.sqlite3", "CREATE TABLE users (id TEXT, name TEXT, email TEXT, crm TEXT)",
            "INSERT INTO users VALUES ('u1', 'Ann', 'ann@example.com', 'C1')",
            "CREATE TABLE accounts (userId TEXT, type TEXT, provider TEXT, providerAccountId TEXT, access_token TEXT, "
                + "refresh_token TEXT)",
            "INSERT INTO accounts VALUES ('u1', 'oauth', 'acme', 's1', 'A', 'R')",
            "CREATE TABLE mine (user TEXT, provider TEXT, access_token TEXT)",
            "INSERT INTO mine VALUES ('m', 'acme', 'M')")
    }

    @Test(arguments: [("id", "u1"), ("email", "ann@example.com"), ("username", "Ann"), ("column:crm", "C1")])
    func theUserKeyNamesTheUser(_ key: String, _ user: String) async throws {
        try await ImportBench.with { bench in
            let source = try Self.app(bench)
            #expect(try await bench.run(source, "--kind", "authjs", "--user-key", key) == ["added": 1])
            #expect(try await bench.logins().keys.sorted() == [user])
        }
    }

    @Test func aUserKeyThatLinesDoNotHaveIsRefused() async throws {
        try await ImportBench.with { bench in
            let source = try bench.file("a.jsonl", ImportBench.line("u", access: "A", #""mail":"a@example.com""#))
            #expect(try await bench.failure(source, "--user-key", "email").code == "unfitPlan")
            #expect(try await bench.failure(source, "--user-key", "username").code == "unfitPlan")
            #expect(try await bench.run(source, "--user-key", "column:mail") == ["added": 1])
            let named = try bench.file(
                "b.jsonl", #"{"email":"b@example.com","provider":"acme","access_token":"B"}"# + "\n")
            #expect(try await bench.run(named, "--user-key", "email", "--name", "b") == ["added": 1])
            #expect(try await bench.logins().keys.sorted() == ["a@example.com", "b@example.com"])
        }
    }

    /// A store of another kind is called by its name, with where its tokens are.
    @Test(arguments: [
        ("CREATE TABLE identities (id TEXT, user_id TEXT, provider TEXT, identity_data TEXT)", "Supabase", "log-in"),
        (
            "CREATE TABLE federated_identity (identity_provider TEXT, federated_user_id TEXT, user_id TEXT, token TEXT)",
            "Keycloak", "--map"
        ),
    ])
    func aStoreWithoutPlainTokensIsNamed(_ table: String, _ product: String, _ way: String) async throws {
        try await ImportBench.with { bench in
            let refused = try await bench.failure(try bench.database("other.sqlite3", table))
            #expect(refused.code == "unknownStore")
            #expect(refused.text.contains(product) && refused.text.contains(way), "\(refused.text)")
        }
    }

    @Test func kindAndTableChooseAmongStores() async throws {
        try await ImportBench.with { bench in
            let source = try Self.app(bench)
            let several = try await bench.failure(source)
            #expect(several.code == "severalStores" && several.text.contains("--table"))
            #expect(try await bench.run(source, "--table", "mine", "--name", "a") == ["added": 1])
            #expect(try await bench.run(source, "--kind", "authjs", "--name", "b") == ["added": 1])
            #expect(try await bench.logins().keys.sorted() == ["m", "u1"])
        }
    }

    @Test func aMapOfProvidersNamesThemAndTheirClients() async throws {
        try await ImportBench.with(["github=ours"]) { bench in
            let rows =
                ImportBench.line("a", access: "A", provider: "gh", #""client_id":"ours""#)
                + ImportBench.line("b", access: "B", provider: "gh", #""client_id":"theirs""#)
                + ImportBench.line("c", access: "C", provider: "github")
                + ImportBench.line("d", access: "D", refresh: "R", provider: "gh", #""token_type":"DPoP""#)
            let source = try bench.file("rows.jsonl", rows)
            let map = try bench.file(
                "map.json", #"{"gh": {"name": "github", "clientId": "ours", "confidential": true}}"#)
            let options = ["--provider-map", map]
            #expect(
                try await bench.run(source, options[0], options[1], "--mapped-only") == [
                    "added": 2, "otherClient": 1, "unmappedProvider": 1,
                ])
            #expect(try await bench.logins().keys.sorted() == ["a", "d"])
            #expect(try await bench.run(source, options[0], options[1])["added"] == 1)
        }
    }

    @Test(arguments: [("utc", 1_800_000_000), ("+02:00", 1_799_992_800), ("unknown", nil)] as [(String, Double?)])
    func aZoneSaysWhatATimeWithoutOneMeans(_ zone: String, _ expiry: Double?) async throws {
        try await ImportBench.with { bench in
            let source = try bench.file(
                "rows.jsonl", ImportBench.line("u", access: "A", refresh: "R", #""expires_at":"2027-01-15 08:00:00""#))
            try await bench.run(source, "--zone", zone)
            #expect(try await bench.logins()["u"]?.expiresAt?.timeIntervalSince1970 == expiry)
        }
    }

    @Test func strictRejectsWhatIsNotKnown() async throws {
        try await ImportBench.with { bench in
            let source = try bench.file(
                "rows.jsonl", ImportBench.line("u", access: "A", #""wheels":4"#) + ImportBench.line("v", access: "B"))
            #expect(try await bench.run(source, "--strict") == ["added": 1, "unknownMember": 1])
            let json = try await bench.harness.run("import", "run", source, "--json").json
            #expect(json["unknownMembers"] as? [String] == ["wheels"])
        }
    }

    @Test func nangosKeyOpensItsRows() async throws {
        try await ImportBench.with { bench in
            let table =
                "CREATE TABLE _nango_connections (id INTEGER, connection_id TEXT, provider_config_key TEXT, credentials TEXT, "
                + "credentials_iv TEXT, credentials_tag TEXT, deleted_at TEXT)"
            let source = try bench.database(
                "nango.sqlite3", table,
                "INSERT INTO _nango_connections VALUES (1, 'u', 'acme', "
                    + "'{\"encrypted_credentials\":\"PCCiYrWA4CGvDtbe5aFKT6/05leTHiwPZxOK7ngHIogjUYOSje0w6hHCDYj773dMgTIF43jsgYgS+Qhk\"}', 'AAECAwQFBgcICQoL', 'aZE/EtvWy0IjTJseCwCnCw==', NULL)"
            )
            #expect(try await bench.failure(source).code == "secretNeeded")
            let key = try bench.file("key", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=")
            #expect(try await bench.run(source, "--nango-key-file", key) == ["added": 1])
            #expect(try await bench.logins()["u"]?.refreshToken?.reveal() == "R-n")
        }
    }

    @Test func aProgramOpensOtherCiphers() async throws {
        try await ImportBench.with { bench in
            let source = try bench.file("rows.jsonl", ImportBench.line("u", access: "sealed-A", refresh: "sealed-R"))
            let program = #"["/usr/bin/sed", "-u", "s/^sealed-/open-/"]"#
            #expect(try await bench.run(source, "--decrypt-command", program) == ["added": 1])
            #expect(try await bench.logins()["u"]?.refreshToken?.reveal() == "open-R")
        }
    }

    @Test func aReportNamesUsersOnlyWhenAsked() async throws {
        try await ImportBench.with { bench in
            let source = try bench.file("rows.jsonl", ImportBench.line("someone", access: "A", #""id":"key-9""#))
            let quiet = try await bench.ok(["import", "run", source, "--dry-run", "--report", "-"]).output
            #expect(!quiet.contains("someone") && !quiet.contains("key-9") && quiet.contains(#""outcome":"added""#))
            let path = bench.harness.path("report.jsonl")
            try await bench.ok(["import", "run", source, "--report", path, "--show-users"])
            let named = try String(contentsOfFile: path, encoding: .utf8)
            #expect(named.contains("someone") && named.contains("key-9"))
        }
    }

    @Test func acceptanceIsByProviderAndDryRunChangesNothing() async throws {
        try await ImportBench.with(["acme", "other"]) { bench in
            let source = try bench.file(
                "rows.jsonl",
                ImportBench.line("a", access: "A", refresh: "R")
                    + ImportBench.line("b", access: "B", refresh: "S", provider: "other"))
            try await bench.run(source, "--name", "web")
            let accept = ["import", "accept", "web", "--source-is-gone", "--json"]
            let plan = try await bench.ok(accept + ["--dry-run"]).json
            #expect(plan["accepted"] as? Int == 2 && plan["isDryRun"] as? Bool == true)
            #expect(try await bench.ok(accept + ["--provider", "other"]).json["accepted"] as? Int == 1)
            let status = try await bench.ok(["import", "status", "--json"]).json["sources"] as? [[String: Any]]
            #expect(status?.map { $0["held"] as? Int } == [1, 0] && status?.map { $0["accepted"] as? Int } == [0, 1])
        }
    }

    // MARK: What is said

    @Test func missingProvidersAreNamedWithTheCommandThatAddsThem() async throws {
        try await ImportBench.with { bench in
            let source = try bench.database(
                "allauth.sqlite3",
                "CREATE TABLE socialaccount_socialaccount (id INTEGER, user_id INTEGER, provider TEXT, uid TEXT)",
                "CREATE TABLE socialaccount_socialapp (id INTEGER, provider TEXT, client_id TEXT, secret TEXT)",
                "CREATE TABLE socialaccount_socialtoken (id INTEGER, app_id INTEGER, account_id INTEGER, token TEXT, "
                    + "token_secret TEXT, expires_at TEXT)",
                "INSERT INTO socialaccount_socialapp VALUES (1, 'google', 'client-4711', 'x')",
                "INSERT INTO socialaccount_socialaccount VALUES (1, 7, 'google', 's7'), (2, 8, 'google', 's8'), (3, 9, 'yahoo', 's9')",
                "INSERT INTO socialaccount_socialtoken VALUES (1, 1, 1, 'A', 'R', NULL), (2, 1, 2, 'B', 'S', NULL), "
                    + "(3, NULL, 3, 'C', 'T', NULL)")
            let (code, text) = try await bench.failure(source)
            #expect(code == "nothingUsable")
            #expect(text.contains("google (2 rows): vaultctl provider add google --issuer URL"), "\(text)")
            #expect(text.contains("--client-id client-4711"), "\(text)")
            #expect(text.contains("yahoo (1 row)") && text.contains("--provider-map"))
            try await bench.add("google=client-4711")
            let result = try await bench.harness.run("import", "run", source)
            #expect(result.status == 3 && result.error.contains("yahoo (1 row)") && !result.error.contains("google ("))
            let json = try await bench.harness.run("import", "run", source, "--json").json
            let missing = try #require(json["missingProviders"] as? [[String: Any]])
            #expect(missing.map { $0["provider"] as? String } == ["yahoo"] && missing[0]["rows"] as? Int == 1)
        }
    }

    @Test func progressHasAShareAndTheTimeThatIsLeft() {
        #expect(RowProgress.line(500, share: nil, elapsed: 9) == "reading: 500 rows")
        #expect(RowProgress.line(500, share: 0.25, elapsed: 1) == "reading: 500 rows, 25 %")
        #expect(RowProgress.line(24_000, share: 0.25, elapsed: 30) == "reading: 24000 rows, 25 %, 90 s left")
        #expect(RowProgress.line(24_000, share: 1, elapsed: 30) == "reading: 24000 rows, 100 %")
    }

    /// The report fills a pipe, so the signal comes in the middle of the work.
    @Test func aStopSaysWhatIsStoredAndWhatToDo() async throws {
        try await ImportBench.with { bench in
            let rows = 9_000
            let text = (1...rows).map { ImportBench.line("u\($0)", subject: "s", refresh: "R\($0)") }.joined()
            let source = try bench.file("rows.jsonl", text)
            let result = try await Program(harness: bench.harness).shell(
                """
                mkfifo "$dir/pipe" && exec 3<>"$dir/pipe"
                "$vaultctl" import run '\(source)' --report - >&3 & pid=$!
                head -c 1000 <&3 >/dev/null
                kill -INT $pid
                cat <&3 >/dev/null & cat=$!
                wait $pid; echo $?
                kill $cat
                """)
            #expect(result.output.trimmingCharacters(in: .whitespacesAndNewlines) == "130")
            #expect(
                result.error.contains("interrupted after ") && result.error.contains("are stored"), "\(result.error)")
            #expect(result.error.contains("run the same command again"))
            let counts = try await bench.run(source)
            #expect(
                (counts["unchanged"] ?? 0) > 0 && (counts["unchanged"] ?? 0) + (counts["added"] ?? 0) == rows,
                "\(counts)")
        }
    }
}
