import Foundation
import OAuthClient
import TestSupport
import Testing
import VaultControl
import VaultImport

/// Which of two rows counts, and which of them is no news.
@Suite struct ImportOrderTests {
    private static let allauth = [
        "CREATE TABLE socialaccount_socialaccount (id INTEGER, user_id INTEGER, provider TEXT, uid TEXT)",
        "CREATE TABLE socialaccount_socialapp (id INTEGER, provider TEXT, client_id TEXT, secret TEXT)",
        "CREATE TABLE socialaccount_socialtoken (id INTEGER, app_id INTEGER, account_id INTEGER, token TEXT, "
            + "token_secret TEXT, expires_at TEXT)",
        "INSERT INTO socialaccount_socialaccount VALUES (1, 7, 'acme', 's7')",
    ]

    private static func allauth(_ bench: ImportBench, _ name: String, _ rows: String...) throws -> String {
        let path = bench.harness.path(name)
        try FileBytes.write([], to: path)
        let connection = try RawConnection(path)
        for statement in allauth + rows.map({ "INSERT INTO socialaccount_socialtoken VALUES (\($0))" }) {
            try connection.execute(statement)
        }
        return path
    }

    @Test func theLaterRowCountsWhateverExpiriesSay() async throws {
        try await ImportBench.with { bench in
            let dead = try Self.allauth(
                bench, "dead.sqlite3", "52, NULL, 1, 'OLD', '', '2023-01-01 00:00:00'", "53, NULL, 1, 'NEW', '', NULL")
            let plan = try await bench.run(dead, "--dry-run")
            #expect(try await bench.run(dead) == plan)
            #expect(plan == ["dead": 1, "added": 1])
            #expect(try await bench.logins()["7"]?.accessToken?.reveal() == "NEW")
            // It is there at the next reading, too.
            #expect(try await bench.run(dead) == ["dead": 1, "unchanged": 1])
        }
        try await ImportBench.with { bench in
            let living = try bench.file(
                "two.jsonl",
                ImportBench.line("u", subject: "s", access: "A1", refresh: "R1", #""expires_at":2100000000"#)
                    + ImportBench.line("u", subject: "s", access: "A2", refresh: "R2"))
            #expect(try await bench.run(living) == ["added": 1, "followed": 1])
            #expect(try await bench.logins()["u"]?.refreshToken?.reveal() == "R2")
        }
    }

    @Test func theLaterRowCountsForLoginsThatAreTakenToo() async throws {
        try await ImportBench.with { bench in
            let source = try bench.file(
                "two.jsonl",
                ImportBench.line("u", subject: "s", access: "A1", refresh: "R1")
                    + ImportBench.line("u", subject: "s", access: "A2", refresh: "R2"))
            #expect(try await bench.run(source, "--take") == ["added": 1, "followed": 1])
            #expect(try await bench.logins()["u"]?.refreshToken?.reveal() == "R2")
            #expect(try await bench.run(source, "--take") == ["older": 1, "unchanged": 1])
        }
    }

    @Test func momentsOfIssueGoBeforeTheOrder() async throws {
        try await ImportBench.with { bench in
            let source = try bench.file(
                "two.jsonl",
                ImportBench.line("u", subject: "s", access: "A2", refresh: "R2", #""obtained_at":1700000100"#)
                    + ImportBench.line("u", subject: "s", access: "A1", refresh: "R1", #""obtained_at":1700000000"#))
            #expect(try await bench.run(source) == ["added": 1, "duplicate": 1])
            #expect(try await bench.logins()["u"]?.refreshToken?.reveal() == "R2")
        }
    }

    @Test func aDeadRowTakesNoLivingOnesPlace() async throws {
        try await ImportBench.with { bench in
            let source = try bench.file(
                "two.jsonl",
                ImportBench.line("u", subject: "s", access: "A1", refresh: "R1")
                    + ImportBench.line("u", subject: "s", access: "A2", #""expires_at":1600000000"#))
            for options in [[], ["--keep-dead"]] {
                let counts = try await bench.run(source, options.first ?? "--name", options.isEmpty ? "x" : "--name=x")
                #expect(counts["dead"] == 1, "\(counts)")
            }
            #expect(try await bench.logins()["u"]?.refreshToken?.reveal() == "R1")
        }
    }

    /// A source with both rows of a login stands still all the same.
    @Test func aSourceThatKeepsOlderRowsIsQuiet() async throws {
        try await ImportBench.with { bench in
            let source = try bench.file(
                "two.jsonl",
                ImportBench.line("u", subject: "s", access: "A1", refresh: "R1")
                    + ImportBench.line("u", subject: "s", access: "A2", refresh: "R2")
                    + ImportBench.line("u", subject: "s", access: "A3", refresh: "R3"))
            try await bench.run(source, "--name", "web")
            #expect(try await bench.run(source, "--name", "web") == ["older": 2, "unchanged": 1])
            #expect(try await bench.logins()["u"]?.refreshToken?.reveal() == "R3")
            // Three readings without a change: the last one is proof, but for the minute that must lie between.
            let refusal = try await bench.harness.run("import", "accept", "web")
            #expect(refusal.error.contains("60 seconds"), "\(refusal.error)")
            let compare = try await bench.harness.run("import", "compare", source, "--name", "web")
            #expect(compare.status == 0, "\(compare.error)")
            try await bench.ok(["import", "accept", "web", "--source-is-gone"])
            let check = try await bench.harness.run("import", "check", source, "--name", "web")
            #expect(check.status == 0, "\(check.error)")
        }
    }

    @Test func aCopyOfFormerTokensIsOlder() async throws {
        try await ImportBench.with { bench in
            func store(_ number: Int) throws -> String {
                try bench.file(
                    "\(number).jsonl", ImportBench.line("u", subject: "s", access: "A\(number)", refresh: "R\(number)"))
            }
            for number in 1...6 { try await bench.run(try store(number), "--name", "web") }
            for number in 1...5 {
                #expect(try await bench.run(try store(number), "--name", "web") == ["older": 1], "\(number)")
            }
            #expect(try await bench.logins()["u"]?.refreshToken?.reveal() == "R6")
            // Such a reading proves nothing.
            let refusal = try await bench.harness.run("import", "accept", "web")
            #expect(refusal.error.contains("may still renew"), "\(refusal.error)")
            // Nor does it accuse the source once the vault owns the login.
            try await bench.ok(["import", "accept", "web", "--source-is-gone"])
            #expect(try await bench.check(try store(3), "--name", "web") == ["older": 1])
            #expect(try await bench.check(try store(3), "--name", "web", "--adopt") == ["older": 1])
            #expect(try await bench.check(try store(7), "--name", "web") == ["renewedBySource": 1])
            #expect(try await bench.logins()["u"]?.refreshToken?.reveal() == "R6")
        }
    }

    /// A row is named by its tokens alone when it is taken, and by its user when it is held.
    @Test func takingWhatWasHeldMissesNothing() async throws {
        try await ImportBench.with { bench in
            let source = try bench.file("1.jsonl", ImportBench.line("u", access: "A1", refresh: "R1"))
            try await bench.run(source, "--name", "web")
            let taken = try await bench.ok(["import", "run", source, "--name", "web", "--take", "--json"])
            #expect(try ImportBench.counts(taken) == ["unchanged": 1])
            #expect(try taken.json["missing"] as? Int == 0)
            let accepted = try await bench.ok(["import", "accept", "web", "--source-is-gone", "--json"])
            #expect(try accepted.json["accepted"] as? Int == 1)
        }
    }

    @Test func aMomentThatOnlyTheLaterReadingHasMakesNothingOld() async throws {
        try await ImportBench.with { bench in
            let first = try bench.file("1.jsonl", ImportBench.line("u", subject: "s", access: "A1", refresh: "R1"))
            try await bench.run(first)
            let later = ImportBench.line("u", subject: "s", access: "A2", refresh: "R2", #""obtained_at":1700000000"#)
            #expect(try await bench.run(try bench.file("2.jsonl", later)) == ["followed": 1])
            let copy = ImportBench.line("u", subject: "s", access: "A0", refresh: "R0", #""obtained_at":1600000000"#)
            #expect(try await bench.run(try bench.file("0.jsonl", copy)) == ["older": 1])
        }
    }

    @Test(arguments: [[0, 1], [1, 0]])
    func aRowOfAnotherClientTakesNoPlace(_ order: [Int]) async throws {
        try await ImportBench.with(["acme=ours"]) { bench in
            // The family's refresh token is the same for both clients.
            for refresh in [["R-ours", "R-theirs"], ["R", "R"]] {
                let rows = [
                    ImportBench.line("u", subject: "s", access: "A1", refresh: refresh[0], #""client_id":"ours""#),
                    ImportBench.line("u", subject: "s", access: "A2", refresh: refresh[1], #""client_id":"theirs""#),
                ]
                let source = try bench.file("\(refresh[1]).jsonl", order.map { rows[$0] }.joined())
                let counts = try await bench.run(source)
                #expect(counts["otherClient"] == 1 && counts["added"] ?? counts["followed"] == 1, "\(counts)")
                #expect(try await bench.logins()["u"]?.refreshToken?.reveal() == refresh[0])
                #expect(try await bench.check(source) == ["otherClient": 1, "unchanged": 1])
            }
        }
    }

    @Test func oneRefreshTokenInTwoRowsIsOneLogin() async throws {
        try await ImportBench.with { bench in
            let table =
                "CREATE TABLE oauth2_token (id INTEGER, user_id INTEGER, name TEXT, token_type TEXT, access_token TEXT, "
                + "refresh_token TEXT, expires_at INTEGER)"
            let source = try bench.database(
                "authlib.sqlite3", table,
                "INSERT INTO oauth2_token VALUES (1, 7, 'acme', 'Bearer', 'A1', 'R', 2100000000)",
                "INSERT INTO oauth2_token VALUES (2, 7, 'acme', 'Bearer', 'A2', 'R', 2100000001)",
                "INSERT INTO oauth2_token VALUES (3, 8, 'acme', 'Bearer', 'A3', 'R', 2100000002)")
            let plan = try await bench.run(source, "--dry-run")
            #expect(plan == ["added": 1, "followed": 1, "duplicateChain": 1])
            #expect(try await bench.run(source) == plan)
            #expect(try await bench.logins()["7"]?.accessToken?.reveal() == "A2")
            #expect(try await bench.allLogins().count == 1)
            #expect(try await bench.run(source) == ["older": 1, "unchanged": 1, "duplicateChain": 1])
            #expect(try await bench.allLogins().count == 1)
        }
    }

    /// Another program's WAL database, read by somebody else while nobody has it open.
    @Test(.enabled(if: geteuid() == 0, "only root can be two others"))
    func readingAsAnotherUserLeavesNothingBehind() async throws {
        try await ImportBench.with { bench in
            let result = try await Program(harness: bench.harness).shell(
                """
                chmod 755 "$dir" && mkdir -m 777 "$dir/app"
                as="setpriv --reuid=65534 --clear-groups"
                $as "$vaultctl" --version >/dev/null 2>&1 || { echo skipped; exit 0; }
                python3 - "$dir/app/db.sqlite3" <<'END'
                import sqlite3, sys
                db = sqlite3.connect(sys.argv[1])
                db.execute("PRAGMA journal_mode=WAL")
                db.execute("CREATE TABLE logins (user, provider, refresh_token)")
                db.execute("INSERT INTO logins VALUES ('u', 'acme', 'R')")
                db.commit()
                db.close()
                END
                chown 65533 "$dir/app/db.sqlite3" && chmod 644 "$dir/app/db.sqlite3"
                cp "$TOKENVAULT_KEY_FILE" "$dir/app/key" && chown 65534 "$dir/app/key"
                $as "$vaultctl" import run "$dir/app/db.sqlite3" --dry-run; echo $?
                ls "$dir/app"
                "$vaultctl" import run "$dir/app/db.sqlite3" --dry-run >/dev/null; echo $?
                stat -c %u "$dir"/app/db.sqlite3*
                """)
            guard result.output != "skipped\n" else { return }
            #expect(result.error.contains("as the owner of the file"), "\(result.error)")
            let lines = result.output.split(separator: "\n").map(String.init)
            #expect(lines.prefix(3) == ["10", "db.sqlite3", "key"], "\(lines) \(result.error)")
            #expect(lines.dropFirst(3).first == "0" && Set(lines.dropFirst(4)) == ["65533"], "\(lines)")
        }
    }
}
