import EngineSupport
import DevAuthorizationServer
import Foundation
import TestSupport
import Testing
import VaultControl

/// The way of a cut-over on the command line, with real tokens of a real server.
@Suite(.tags(.everyEngine)) struct ImportCommandTests {
    /// Rows of another system whose users have real grants.
    private static func store(_ world: World, _ users: [String], ends: Bool = true) throws -> (
        path: String, text: String
    ) {
        let lines = try users.map { user in
            let grant = try #require(world.server.issueGrant(user: user))
            let expiry = ends ? #","expires_at":1000000000"# : ""
            return
                #"{"user":"\#(user)","provider":"acme","subject":"id-\#(user)","access_token":"\#(grant.accessToken)","#
                + #""refresh_token":"\#(try #require(grant.refreshToken))"\#(expiry)}"# + "\n"
        }
        let text = lines.joined()
        return (try world.harness.file("accounts.jsonl", text), text)
    }

    private static func logins(_ world: World) async throws -> Int {
        let list = try await world.ok("login", "list", "--json").json["logins"] as? [[String: Any]]
        return list?.count ?? 0
    }

    private static func refreshes(_ world: World) -> Int { world.server.refreshTokens.reduce(0) { $0 + $1.presented } }

    @Test func aStoreIsTakenOverAndRenewedOnceItIsAccepted() async throws {
        try await World.with { world in
            let (path, _) = try Self.store(world, ["alice", "bob", "carol"])
            let report = world.harness.path("rows.jsonl")
            let plan = try await world.ok("import", "run", path, "--dry-run", "--report", report, "--json").json
            #expect(plan["isDryRun"] as? Bool == true && plan["rows"] as? Int == 3)
            #expect((plan["outcomes"] as? [String: Int])?["added"] == 3)
            #expect(try await Self.logins(world) == 0)
            let lines = try String(contentsOfFile: report, encoding: .utf8)
            #expect(
                lines.split(separator: "\n").count == 3 && !lines.contains("alice") && !lines.contains(Harness.marker))
            let mode = try FileManager.default.attributesOfItem(atPath: report)[.posixPermissions] as? Int
            #expect(mode == 0o600)
            // Nothing is overwritten.
            try await world.fails(.usage, "import", "run", path, "--dry-run", "--report", report)

            try await world.ok("import", "run", path, "--name", "web")
            #expect(try await Self.logins(world) == 3)
            let held = try await world.fails(.rollback, "token", "get", "--user", "alice", "--reveal")
            let alice = try await world.ok("login", "list", "--user", "alice").output.prefix { $0 != "\t" }
            #expect(held.error.contains("vaultctl login show \(alice)"))
            #expect(try await world.ok("login", "show", "--user", "alice").output.contains("vaultctl import accept"))
            let status = try await world.ok("import", "status", "--json").json["sources"] as? [[String: Any]]
            #expect(status?.first?["held"] as? Int == 3 && status?.first?["source"] as? String == "web")
            #expect(try await world.ok("import", "run", path, "--name", "web").output.contains("unchanged"))
            #expect(try await world.ok("import", "compare", path, "--name", "web").error.contains("3 logins"))

            let unproven = try await world.fails(.usage, "import", "accept", "web")
            #expect(unproven.error.contains("--final"))
            let wouldBe = try await world.ok("import", "accept", "web", "--probe", "2", "--dry-run", "--json").json
            #expect(wouldBe["accepted"] as? Int == 2 && wouldBe["requests"] as? Int == 2)
            #expect(Self.refreshes(world) == 0)
            let probe = try await world.ok("import", "accept", "web", "--probe", "2", "--source-is-gone", "--json").json
            #expect(probe["accepted"] as? Int == 2)
            #expect((probe["probes"] as? [[String: Any]])?.map { $0["isRenewed"] as? Bool } == [true, true])
            #expect(Self.refreshes(world) == 2)
            try await world.ok("import", "accept", "web", "--source-is-gone", "--rate", "5/s")
            #expect(try await world.ok("import", "accept", "web", "--source-is-gone").error.contains("no login"))
            for user in ["alice", "bob", "carol"] { try await world.ok("token", "get", "--user", user, "--reveal") }
            #expect(Self.refreshes(world) == 3)
            #expect(try await world.ok("import", "check", path, "--name", "web").error.contains("no login"))
            try await world.ok("verify")
        }
    }

    @Test func aProbeStopsAtTheFirstLoginThatIsRefused() async throws {
        try await World.with { world in
            let (path, _) = try Self.store(world, ["alice", "bob", "carol"])
            try await world.ok("import", "run", path, "--name", "web")
            for user in ["alice", "bob", "carol"] { _ = world.server.revokeGrant(user: user) }
            let probe = try await world.harness.run(
                "import", "accept", "web", "--probe", "3", "--source-is-gone", "--json")
            #expect(probe.status == 3)
            #expect(try probe.json["accepted"] as? Int == 1)
            #expect(Self.refreshes(world) == 1)
        }
    }

    @Test(arguments: ["run", "check"])
    func whatBothSystemsRenewIsHeldAndNamed(_ command: String) async throws {
        try await World.with { world in
            let (path, text) = try Self.store(world, ["alice", "bob"])
            try await world.ok("import", "run", path, "--name", "web", "--take")
            // The other system has renewed one nevertheless.
            let other = try #require(world.server.issueGrant(user: "alice"))
            let lines = text.split(separator: "\n")
            let newer =
                #"{"user":"alice","provider":"acme","subject":"id-alice","access_token":"\#(other.accessToken)","#
                + #""refresh_token":"\#(try #require(other.refreshToken))"}"# + "\n\(lines[1])\n"
            let changed = try world.harness.file("changed.jsonl", newer)
            let found = try await world.harness.run("import", command, changed, "--name", "web")
            #expect(found.status == 3)
            #expect(found.error.contains("the source has renewed login "), "\(found.error)")
            #expect(found.error.contains("vaultctl import check \(changed) --name web --adopt"), "\(found.error)")
            try await world.fails(.rollback, "login", "refresh", "--user", "alice")
            #expect(Self.refreshes(world) == 0)
            let shown = try await world.ok("login", "show", "--user", "alice").output
            #expect(shown.contains("vaultctl import check SOURCE --name web --adopt"), "\(shown)")
            let accepted = try await world.harness.run("import", "accept", "web")
            #expect(accepted.status == 3)
            #expect(accepted.error.contains("1 login contested"), "\(accepted.error)")
            let status = try await world.ok("import", "status", "--json").json["sources"] as? [[String: Any]]
            #expect(status?.first?["contested"] as? Int == 1 && status?.first?["accepted"] as? Int == 1)
            // An older copy says nothing of it.
            let old = try await world.harness.run("import", "check", path, "--name", "web")
            #expect(old.status == 3 && old.error.contains("1 login still contested"), "\(old.error)")
            try await world.ok("import", "check", changed, "--name", "web", "--adopt")
            try await world.ok("login", "refresh", "--user", "alice")
            #expect(try await world.harness.run("import", "compare", changed, "--name", "web").status == 0)
        }
    }

    /// A map that was forgotten, and another system's file: the renewals of the source would stay unseen.
    @Test func aCheckThatComparesNothingSaysSo() async throws {
        try await World.with { world in
            let (path, text) = try Self.store(world, ["alice", "bob"])
            let map = try world.harness.file("map.json", #"{"olddev":"acme"}"#)
            try world.harness.file("accounts.jsonl", text.replacing(#""acme""#, with: #""olddev""#))
            let mapped = ["--name", "web", "--provider-map", map]
            try await world.ok(["import", "run", path] + mapped)
            try await world.ok("import", "accept", "web", "--source-is-gone")
            for command in [["check"], ["check", "--adopt"], ["compare"]] {
                let blind = try await world.fails(.usage, ["import"] + command + [path, "--name", "web"])
                #expect(blind.error.contains("no row of the source could be compared"))
                #expect(blind.error.contains("--provider-map"), "\(blind.error)")
            }
            let foreign = text.replacing(#""acme""#, with: #""olddev""#).replacing("alice", with: "carl")
                .replacing("bob", with: "dora")
            try world.harness.file("accounts.jsonl", foreign)
            let other = try await world.harness.run(["import", "check", path] + mapped)
            #expect(other.status == 3 && other.error.contains("2 logins from this source in the vault, and no row"))
            // One row of two.
            let half = text.components(separatedBy: "\n")
            try world.harness.file(
                "accounts.jsonl",
                half[0].replacing(#""acme""#, with: #""olddev""#) + "\n"
                    + half[1].replacing(#""acme""#, with: #""misspelt""#) + "\n")
            let partial = try await world.harness.run(["import", "check", path] + mapped)
            #expect(partial.status == 3, "\(partial.error)")
            #expect(partial.error.contains("1 row rejected, and 1 of the 2 logins from this source not compared"))
            #expect(!partial.error.contains("has renewed no login"))
        }
    }

    @Test func aNameUnderWhichNoRowWasTakenIsNoSource() async throws {
        try await World.with { world in
            let path = try Self.store(world, ["alice"]).0
            try await world.ok("import", "run", path, "--name", "web")
            for _ in 1...2 {
                let refused = try await world.fails(.usage, "import", "run", path, "--name", "wob")
                #expect(refused.error.contains("no login of this vault was imported from a source named wob"))
            }
            for command in [["import", "accept", "wob"], ["import", "check", path, "--name", "wob"]] {
                let unknown = try await world.fails(.notFound, command)
                #expect(unknown.error.contains("was imported from a source named wob"), "\(unknown.error)")
                #expect(unknown.error.contains("the sources are: web"))
            }
        }
    }

    @Test func aSourceWhoseLoginsHaveAllEndedIsKnown() async throws {
        try await World.with { world in
            let path = try Self.store(world, ["alice"]).0
            try await world.ok("import", "run", path, "--name", "web", "--take")
            try await world.ok("login", "remove", "--user", "alice", "--yes")
            let gone = try await world.fails(.notFound, "import", "check", path, "--name", "web")
            #expect(gone.error.contains("no login of this vault comes from the source web any longer"), "\(gone.error)")
            #expect(gone.error.contains("would add its rows again"))
        }
    }

    @Test func whatAnotherSourceBroughtNamesIt() async throws {
        try await World.with { world in
            let path = try Self.store(world, ["alice"]).0
            try await world.ok("import", "run", path, "--name", "web")
            let again = try await world.fails(.usage, "import", "run", path, "--name", "web2")
            #expect(again.error.contains("if it is the source web: --name web"), "\(again.error)")
        }
    }

    @Test func tokensThatAnotherLoginHasAreNotAdopted() async throws {
        try await World.with { world in
            let (path, _) = try Self.store(world, ["alice"])
            try await world.ok("import", "run", path, "--name", "web", "--take")
            let grant = try #require(world.server.issueGrant(user: "alice"))
            let token = try world.harness.file("token", try #require(grant.refreshToken))
            let added = try await world.ok(
                "login", "add", "--user", "alice", "--provider", "acme", "--refresh-token-file", token, "--json")
            let other = try #require(try added.json["id"] as? String)
            let changed = try world.harness.file(
                "changed.jsonl",
                ImportBench.line(
                    "alice", subject: "id-alice", access: grant.accessToken, refresh: grant.refreshToken))
            #expect(try await world.harness.run("import", "check", changed, "--name", "web").status == 3)
            let adopted = try await world.harness.run("import", "check", changed, "--name", "web", "--adopt")
            #expect(adopted.status == 3 && adopted.error.contains("1 row not adopted"), "\(adopted.error)")
            #expect(adopted.error.contains("vaultctl login show \(other)"), "\(adopted.error)")
            let status = try await world.ok("import", "status", "--json").json["sources"] as? [[String: Any]]
            #expect(status?.first?["contested"] as? Int == 1)
            // With the other login gone, the tokens have one owner.
            try await world.ok("login", "remove", other, "--yes")
            try await world.ok("import", "check", changed, "--name", "web", "--adopt")
            try await world.ok("login", "refresh", "--user", "alice")
        }
    }

    /// The source has renewed between the two readings: nothing but the row's name shows that it is there.
    @Test func renewedRowsUnderAMisspeltNameAddNothing() async throws {
        try await World.with { world in
            let grants = try (1...2).map { _ in try #require(world.server.issueGrant(user: "alice")) }
            let paths = try grants.enumerated().map { number, grant in
                try world.harness.file(
                    "\(number).jsonl",
                    ImportBench.line(
                        "alice", access: grant.accessToken, refresh: grant.refreshToken, #""id":"17""#))
            }
            try await world.ok("import", "run", paths[0], "--name", "web")
            let wrong = try await world.fails(.usage, "import", "run", paths[1], "--name", "wbe")
            #expect(wrong.error.contains("if it is the source web: --name web"), "\(wrong.error)")
            try await world.ok("import", "run", paths[1], "--name", "web")
            try await world.ok("import", "accept", "web", "--source-is-gone")
            try await world.fails(.notFound, "import", "accept", "wbe", "--source-is-gone")
            #expect(try await Self.logins(world) == 1)
            try await world.ok("login", "refresh", "--user", "alice")
            try await world.ok("login", "refresh", "--user", "alice")
        }
    }

    /// A source that still has the row brings back what is erased or forgotten here.
    @Test func whatMayComeBackFromItsSourceIsSaid() async throws {
        try await World.with { world in
            let (path, _) = try Self.store(world, ["alice", "bob", "carol"])
            try await world.ok("import", "run", path, "--name", "web")
            let words = "web, from where the login was imported, may still have it: end it there"
            let removed = try await world.ok("login", "remove", "--user", "bob", "--yes")
            #expect(removed.error.contains(words), "\(removed.error)")
            let revoked = try await world.harness.run("login", "revoke", "--user", "carol", "--yes")
            #expect(revoked.error.contains(words), "\(revoked.error)")
            let user = "the user may still be in web, from where logins were imported"
            #expect(try await world.ok("user", "erase", "alice", "--dry-run").error.contains(user))
            try await world.ok("import", "accept", "web", "--source-is-gone")
            let erased = try await world.harness.run("user", "erase", "alice", "--yes")
            #expect(erased.error.contains(user), "\(erased.error)")
            // A login that never came from a source comes back from none.
            try await world.logIn("dave")
            let own = try await world.harness.run("user", "erase", "dave", "--yes")
            #expect(!own.error.contains("may still be in"), "\(own.error)")
        }
    }

    @Test func whatAWrongFileLeavesHeldIsSaid() async throws {
        try await World.with { world in
            let (path, _) = try Self.store(world, ["alice", "bob"])
            try await world.ok("import", "run", path, "--name", "web")
            let other = try world.harness.file("other.jsonl", ImportBench.line("carol", access: "A", refresh: "R"))
            let wrong = try await world.ok("import", "run", other, "--name", "web")
            #expect(wrong.error.contains("2 logins of web in the vault"), "\(wrong.error)")
            let plan = try await world.ok("import", "accept", "web", "--source-is-gone", "--dry-run")
            let accepted = try await world.harness.run("import", "accept", "web", "--source-is-gone")
            #expect(accepted.status == 3 && accepted.output.contains("skipped\t2"), "\(accepted.output)")
            for said in [plan.error, accepted.error] {
                #expect(said.contains("2 logins not accepted"), "\(said)")
                #expect(said.contains("vaultctl import run SOURCE --name web"), "\(said)")
            }
            let next = try await world.ok("login", "show", "--user", "alice").output
            #expect(next.contains("vaultctl import run SOURCE --name web"), "\(next)")
            // The right file makes them acceptable.
            try await world.ok("import", "run", path, "--name", "web")
            #expect(
                try await world.ok("login", "show", "--user", "alice").output.contains("vaultctl import accept web"))
        }
    }

    @Test func anOldCopyUnderAMisspeltNameAddsNothing() async throws {
        try await World.with { world in
            let grant = try #require(world.server.issueGrant(user: "alice"))
            let path = try world.harness.file(
                "old.jsonl", ImportBench.line("alice", access: grant.accessToken, refresh: grant.refreshToken))
            try await world.ok("import", "run", path, "--name", "web", "--take")
            try await world.ok("login", "refresh", "--user", "alice")
            let again = try await world.fails(.usage, "import", "run", path, "--name", "wbe", "--take")
            #expect(again.error.contains("if it is the source web: --name web"), "\(again.error)")
            #expect(again.error.contains("a source named wbe; the sources are: web"), "\(again.error)")
            try await world.ok("login", "refresh", "--user", "alice")
        }
    }

    @Test func rowsThatCannotBeUsedAreSummedUp() async throws {
        try await World.with { world in
            let good = try Self.store(world, ["alice"]).text
            let path = try world.harness.file(
                "mixed.jsonl", good + "no JSON\n" + #"{"user":"x","provider":"other","refresh_token":"r"}"# + "\n")
            let run = try await world.harness.run("import", "run", path, "--report", "-", "--show-users")
            #expect(run.status == 3)
            let lines = run.output.split(separator: "\n")
            #expect(lines.count == 4 && lines[0].contains(#""user":"alice""#) && lines[3].contains(#""rows":3"#))
            #expect(lines[2].contains(#""reason":"unknownProvider""#))
            let bad = try world.harness.file(
                "bad.jsonl", #"{"user":"x","provider":"other","refresh_token":"r"}"# + "\n")
            try await world.fails(.usage, "import", "run", bad, "--name", "web2")
            let map = try world.harness.file(
                "map.json", #"{"other": {"name": "acme", "clientId": "demo", "confidential": true}}"#)
            try await world.ok("import", "run", bad, "--name", "web2", "--provider-map", map)
        }
    }

    /// The reports of real processes fill a pipe that is read up to some byte: so each is killed in the middle of its work.
    @Test func aKilledRunIsRunAgain() async throws {
        try await World.with { world in
            let rows = Depth.pick(brief: 8_000, nightly: 16_000, deep: 16_000)
            let text = (1...rows).map { number in
                #"{"user":"u\#(number)","provider":"acme","subject":"s\#(number)","refresh_token":"CANARY-\#(number)"}"#
            }.joined(separator: "\n")
            let path = try world.harness.file("rows.jsonl", text)
            let result = try await Program(harness: world.harness).shell(
                """
                mkfifo "$dir/pipe" && exec 3<>"$dir/pipe"
                for bytes in 1 150000 70000 300000; do
                    "$vaultctl" import run '\(path)' --name web --report - >&3 2>/dev/null & pid=$!
                    head -c $bytes <&3 >/dev/null
                    kill -9 $pid
                    wait $pid
                    echo $?
                    # What is left in the pipe is of the one that was killed.
                    timeout 0.2 cat <&3 >/dev/null
                done
                "$vaultctl" login list | wc -l
                exec 3<&-
                """)
            let lines = result.output.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
            #expect(lines.dropLast() == ["137", "137", "137", "137"])
            let before = try #require(lines.last.flatMap { Int($0) })
            #expect(before > 0 && before < rows && before.isMultiple(of: 1_500), "\(before)")
            let run = try await world.ok("import", "run", path, "--name", "web", "--json").json
            let outcomes = try #require(run["outcomes"] as? [String: Int])
            #expect(outcomes["unchanged"] == before && outcomes["added"] == rows - before)
            #expect(try await world.ok("import", "compare", path, "--name", "web").error.contains("\(rows) logins"))
            try await world.ok("verify")
            print("killed imports: 4, with \(before) of \(rows) logins in the vault after them")
        }
    }
}
