import Foundation
import OAuthClient
import TestSupport
import Testing
import VaultControl
import VaultImport

/// Nothing is taken for what it is not, and nothing is dropped without a word.
@Suite struct ImportHonestyTests {
    @Test func tokensOfTheApplicationItselfAreNoLogins() async throws {
        try await ImportBench.with { bench in
            let table =
                "CREATE TABLE oauth2_authorized_client (client_registration_id TEXT, principal_name TEXT, "
                + "access_token_type TEXT, access_token_value BLOB, access_token_issued_at TEXT, access_token_expires_at TEXT, "
                + "access_token_scopes TEXT, refresh_token_value BLOB, refresh_token_issued_at TEXT, created_at TEXT)"
            func row(_ principal: String, _ refresh: String) -> String {
                "INSERT INTO oauth2_authorized_client VALUES ('acme', '\(principal)', 'Bearer', 'A', '2026-01-01 00:00:00', "
                    + "'2036-01-01 00:00:00', 'read,write', \(refresh), NULL, '2026-01-01')"
            }
            let source = try bench.database(
                "spring.sqlite3", table, row("anonymousUser", "NULL"), row("acme", "NULL"), row("alice", "'R'"))
            #expect(try await bench.run(source) == ["added": 1, "clientCredentials": 2])
            #expect(try await bench.logins()["alice"]?.scope?.tokens == ["read", "write"])
            let lines = try bench.file(
                "own.jsonl", ImportBench.line("svc", access: "A9", #""grant_type":"client_credentials""#))
            #expect(try await bench.failure(lines).code == "nothingUsable")
        }
    }

    /// Of Fernet, of Laravel, of Rails, of Vault, and of Better Auth without a version.
    private static let sealed = [
        "gAAAAABk" + String(repeating: "Q0", count: 50) + "==",
        Data(#"{"iv":"x","value":"y","mac":"z","tag":""}"#.utf8).base64EncodedString(),
        #"{\"p\":\"q/8=\",\"h\":{\"iv\":\"a\",\"at\":\"b\"}}"#,
        "vault:v1:8SDd3WHDOjf7mq69CyCqYjBXAiQQAVZRkFM13ok481zoCmHnSeDX9vyf7w==",
    ]

    @Test(arguments: 0..<4) func ciphertextIsNoToken(_ index: Int) async throws {
        try await ImportBench.with { bench in
            let source = try bench.file(
                "sealed.jsonl",
                ImportBench.line("u", subject: "s", access: Self.sealed[index], refresh: Self.sealed[index] + "=="))
            let (code, text) = try await bench.failure(source)
            #expect(code == "secretNeeded" && text.contains("--decrypt-command"), "\(text)")
            #expect(try await bench.allLogins().isEmpty)
            #expect(try await bench.run(source, "--tokens-are-plain") == ["added": 1])
        }
    }

    @Test func sealedTokensOfBetterAuthNeedTheirSecret() async throws {
        try await ImportBench.with { bench in
            let sealed =
                "3f08aace122ee2368432c1ca23a049bc640bafbf00fdf33a4cbe9d402fb0a7f91ccf745f5b4a564e8cade76f202575"
            let source = try bench.database(
                "ba.sqlite3",
                "CREATE TABLE account (id TEXT, accountId TEXT, providerId TEXT, userId TEXT, accessToken TEXT, "
                    + "refreshToken TEXT, accessTokenExpiresAt TEXT)",
                "INSERT INTO account VALUES ('1', 's', 'acme', 'u', 'plain', NULL, NULL)",
                "INSERT INTO account VALUES ('2', 't', 'acme', 'v', '\(sealed)', NULL, NULL)",
                "INSERT INTO account VALUES ('3', 'w', 'acme', 'w', '$ba$2$\(sealed)', NULL, NULL)")
            let (code, text) = try await bench.failure(source)
            #expect(code == "secretNeeded" && text.contains("--better-auth-secret-file"), "\(text)")
            #expect(try await bench.allLogins().isEmpty, "not even what stands before it")
            let secret = try bench.file("secret", "a secret of the site")
            let wrong = try bench.file("wrong", "another one")
            let given = ["--better-auth-secret-file", secret, "--better-auth-secret-file", "2=\(secret)"]
            #expect(
                try await bench.failure(source, "--better-auth-secret-file", wrong).code == "wrongSecret")
            #expect(try await bench.run(source, given[0], given[1], given[2], given[3]) == ["added": 3])
            #expect(try await bench.logins()["v"]?.accessToken?.reveal() == "token-1")
            #expect(try await bench.logins()["w"]?.accessToken?.reveal() == "token-1")
        }
    }

    private static let scopes: [(String, [String], Bool)] = [
        (#""repo,user:email,read:org""#, ["repo", "user:email", "read:org"], true),
        (#""repo, user:email""#, ["repo", "user:email"], true), (#""openid email""#, ["openid", "email"], false),
        (#""a b,c""#, ["a", "b,c"], false), (#"["a","b"]"#, ["a", "b"], false),
        (#""[\"a\",\"b\"]""#, ["a", "b"], false),
        (#""{a,b}""#, ["a", "b"], false), (#""one""#, ["one"], false),
    ]

    @Test(arguments: 0..<8) func scopesAreSplit(_ index: Int) async throws {
        try await ImportBench.with { bench in
            let (text, tokens, isAssumed) = Self.scopes[index]
            let source = try bench.file(
                "scope.jsonl", ImportBench.line("u", subject: "s", refresh: "R", "\"scope\":\(text)"))
            let result = try await bench.harness.run("import", "run", source, "--json")
            let warnings = try #require(try result.json["warnings"] as? [String: Int])
            #expect(warnings["scopeSeparatorAssumed"] == (isAssumed ? 1 : nil))
            #expect(try await bench.logins()["u"]?.scope?.tokens == tokens, "\(text)")
        }
    }

    @Test func whatIsNotKeptIsNamed() async throws {
        try await ImportBench.with { bench in
            let token = "e30." + Data(#"{"sub":"s"}"#.utf8).base64EncodedString().replacing("=", with: "") + ".c2ln"
            let source = try bench.file(
                "id.jsonl",
                ImportBench.line("u", subject: "s", access: "A", "\"id_token\":\"\(token)\"")
                    + ImportBench.line("v", subject: "s", access: "A", refresh: "R", "\"id_token\":\"\(token)\""))
            let result = try await bench.harness.run("import", "run", source, "--json")
            #expect((try result.json["warnings"] as? [String: Int]) == ["idTokenDropped": 1])
            let logins = try await bench.logins()
            #expect(logins["v"]?.idToken?.reveal() == token && logins["u"]?.idToken == nil)
        }
    }

    @Test func expiriesAreKeptAsTheyAre() async throws {
        try await ImportBench.with { bench in
            let far = #""expires_at":4102444800,"refresh_expires_at":4102444801"#
            let source = try bench.file(
                "far.jsonl", ImportBench.line("u", subject: "s", access: "A", refresh: "R", far))
            try await bench.run(source)
            let login = try await bench.logins()["u"]
            #expect(login?.expiresAt?.timeIntervalSince1970 == 4_102_444_800)
            #expect(login?.refreshExpiresAt?.timeIntervalSince1970 == 4_102_444_801)
            // The moment of reading is nobody's moment of issue.
            #expect(login?.obtainedAt == nil)
            let known = try bench.file(
                "known.jsonl",
                ImportBench.line("v", subject: "s", access: "A", refresh: "R1", #""obtained_at":1700000000"#))
            try await bench.run(known)
            #expect(try await bench.logins()["v"]?.obtainedAt?.timeIntervalSince1970 == 1_700_000_000)
            try await bench.ok(["verify"])
        }
    }

    @Test func columnsThatAreNotReadAreNamed() async throws {
        try await ImportBench.with { bench in
            let source = try bench.database(
                "app.sqlite3",
                "CREATE TABLE accounts (userId TEXT, provider TEXT, providerAccountId TEXT, access_token TEXT, "
                    + "refreshTokenNew TEXT, tok_expiry TEXT, session_state TEXT, created_at TEXT)",
                "INSERT INTO accounts VALUES ('u', 'acme', 's', 'A', 'R', '2036', '', '')")
            let result = try await bench.harness.run("import", "run", source)
            #expect(result.error.contains("refreshTokenNew, tok_expiry"), "\(result.error)")
            let json = try await bench.harness.run("import", "run", source, "--json").json
            #expect(json["unreadColumns"] as? [String] == ["refreshTokenNew", "tok_expiry"])
            // A column that means the same is read.
            let other = try bench.database(
                "other.sqlite3",
                "CREATE TABLE accounts (userId TEXT, provider TEXT, providerAccountId TEXT, access_token TEXT, "
                    + "access_token_expires_at TEXT)",
                "INSERT INTO accounts VALUES ('v', 'acme', 't', 'A', '2036-01-01T00:00:00Z')")
            #expect(try await bench.run(other, "--name", "o") == ["added": 1])
            #expect(try await bench.logins()["v"]?.expiresAt?.timeIntervalSince1970 == 2_082_758_400)
        }
    }

    @Test func aDeadLoginThatIsKeptCountsAsDead() async throws {
        try await ImportBench.with { bench in
            let source = try bench.file(
                "dead.jsonl", ImportBench.line("u", subject: "s", access: "A", #""expires_at":1600000000"#))
            #expect(try await bench.run(source) == ["dead": 1])
            #expect(try await bench.run(source, "--keep-dead", "--take") == ["added": 1])
            let status = try await bench.ok(["import", "status", "--json"]).json["sources"] as? [[String: Any]]
            #expect(status?.first?["dead"] as? Int == 1, "\(String(describing: status))")
        }
    }

    // MARK: Rows without a name of their own

    @Test func anIdTokenNamesItsRow() async throws {
        try await ImportBench.with { bench in
            func line(_ subject: String, _ number: Int, hasToken: Bool = true) -> String {
                let payload = Data("{\"sub\":\"\(subject)\"}".utf8).base64EncodedString().replacing("=", with: "")
                let token = hasToken ? "\"id_token\":\"e30.\(payload).c2ln\"" : ""
                return ImportBench.line("u", access: "A\(subject)\(number)", refresh: "R\(subject)\(number)", token)
            }
            let source = try bench.file("id.jsonl", line("one", 1) + line("two", 1))
            #expect(try await bench.run(source) == ["added": 2])
            #expect(try await bench.allLogins().map(\.subject).sorted { $0 ?? "" < $1 ?? "" } == ["one", "two"])
            #expect(
                try await bench.run(try bench.file("id2.jsonl", line("two", 2) + line("one", 1))) == [
                    "followed": 1, "unchanged": 1,
                ])
            // A row that has a key keeps its name when its id token goes.
            let keyed = try bench.database(
                "authlib.sqlite3",
                "CREATE TABLE oauth2_token (id INTEGER, user_id TEXT, name TEXT, access_token TEXT, refresh_token TEXT, "
                    + "expires_at INTEGER, id_token TEXT)",
                "INSERT INTO oauth2_token VALUES (1, 'k', 'acme', 'A', 'R', 0, 'e30.eyJzdWIiOiJ6In0.c2ln')")
            #expect(try await bench.run(keyed) == ["added": 1])
            try bench.connection("authlib.sqlite3").execute(
                "UPDATE oauth2_token SET id_token = NULL, access_token = 'B', refresh_token = 'S'")
            #expect(try await bench.run(keyed) == ["followed": 1])
        }
    }

    @Test func rowsWithoutAnyNameGetOne() async throws {
        let csv =
            "user,provider,access_token,refresh_token,no\nu,acme,A1,R1,1\nu,acme,A2,R2,2\nu,acme,A3,,3\nu,acme,A3,,3\n"
        try await ImportBench.with { bench in
            let source = try bench.file("rows.csv", csv)
            let result = try await bench.harness.run("import", "run", source, "--dry-run")
            #expect(result.status == 3 && result.error.contains("--row-key"), "\(result.error)")
            // The last row says what the one before says, and is no riddle.
            #expect(try await bench.run(source, "--dry-run") == ["added": 1, "ambiguousRow": 2, "duplicate": 1])
            let counts = try await bench.run(source, "--row-key", "column:no")
            #expect(counts == ["added": 3, "duplicate": 1])
            let next = try bench.file("next.csv", csv.replacing("R2", with: "R9"))
            #expect(
                try await bench.run(next, "--row-key", "column:no") == ["unchanged": 2, "followed": 1, "duplicate": 1])
            #expect(try await bench.failure(source, "--row-key", "column:nothing").code == "unfitPlan")
            #expect(try await bench.failure(source, "--row-key", "nothing").code == "usage")
        }
        try await ImportBench.with { bench in
            let source = try bench.file("rows.csv", csv)
            #expect(try await bench.run(source, "--row-key", "line") == ["added": 4])
            let more = try bench.file("more.csv", csv + "u,acme,A5,R5,5\n")
            #expect(try await bench.run(more, "--row-key", "line") == ["unchanged": 4, "added": 1])
        }
        try await ImportBench.with { bench in
            let source = try bench.file("rows.csv", csv)
            let plan = try await bench.run(source, "--take", "--dry-run")
            #expect(plan == ["added": 3, "duplicate": 1])
            #expect(try await bench.run(source, "--take") == plan)
            #expect(try await bench.run(source, "--take") == ["unchanged": 3, "duplicate": 1])
            #expect(try await bench.check(source) == ["unchanged": 3, "duplicate": 1])
            let turned = try bench.file(
                "turned.csv",
                ([csv.split(separator: "\n")[0]] + csv.split(separator: "\n").dropFirst().reversed())
                    .joined(separator: "\n") + "\n")
            #expect(try await bench.run(turned, "--take") == ["unchanged": 3, "duplicate": 1])
        }
    }

    @Test func oneNamelessRowIsFollowedAndWatched() async throws {
        try await ImportBench.with { bench in
            let first = try bench.file("1.jsonl", ImportBench.line("u", access: "A1", refresh: "R1"))
            let second = try bench.file("2.jsonl", ImportBench.line("u", access: "A2", refresh: "R2"))
            #expect(try await bench.run(first) == ["added": 1])
            #expect(try await bench.run(second) == ["followed": 1])
            try await bench.ok(["import", "accept", "canonical", "--source-is-gone"])
            let third = try bench.file("3.jsonl", ImportBench.line("u", access: "A3", refresh: "R3"))
            #expect(try await bench.check(third) == ["renewedBySource": 1])
        }
    }
}
