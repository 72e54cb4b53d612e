import EngineSupport
import Foundation
import Testing
import TokenVault
import VaultAdministration
import VaultControl

/// `vaultctl audit`: what happened can be read, checked, taken elsewhere and removed.
struct AuditCommandTests {
    private static func lines(_ text: String) throws -> [[String: Any]] {
        try text.split(separator: "\n").map { line in
            try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        }
    }

    private static func kinds(_ text: String) throws -> [String] {
        try lines(text).compactMap { $0["kind"] as? String }
    }

    /// With a login of alice.
    private static func filled() async throws -> (harness: Harness, login: String) {
        let harness = try await BadInputTests.filled()
        _ = try await harness.run("login", "add", "--user", "carol", "--access-token", "-", input: "CANARY-carol")
        let logins = try await harness.run("login", "list", "--user", "alice", "--json").json["logins"]
        return (harness, try #require((logins as? [[String: Any]])?.first?["id"] as? String))
    }

    /// Each command that says it is recorded leaves a row that `audit list` shows.
    @Test func whatIsCalledRecordedCanBeRead() async throws {
        let (harness, login) = try await Self.filled()
        func last() async throws -> [String: Any] {
            let lines = try Self.lines(try await harness.run("audit", "list", "--json", "-n", "1").output)
            return try #require(lines.last)
        }
        #expect(try await harness.run("token", "get", login, "--reveal", revealing: true).status == 0)
        #expect(try await last()["kind"] as? String == "tokenRevealed")
        #expect(try await last()["login"] as? String == login)
        let spare = harness.path("spare.key")
        let added = try await harness.run("key", "add", "--new-key-file", spare, "--label", "spare")
        #expect(added.status == 0, "\(added.error)")
        #expect(try await last()["kind"] as? String == "keySlotAdded")
        _ = try await harness.run(
            "provider", "add", "globex", "--token-endpoint", "https://as.globex.example/token", "--client-id", "c")
        #expect(try await last()["provider"] as? String == "globex")
        let changed = try await harness.run("provider", "update", "globex", "--client-id", "d", "--yes")
        #expect(changed.status == 0, "\(changed.error)")
        #expect(try await last()["kind"] as? String == "providerUpdated")
        let details = try #require(try await last()["details"] as? [[String: String]])
        #expect(details.contains { $0["value"]?.contains("d") == true }, "the log keeps what was changed: \(details)")
        _ = try await harness.run("user", "disable", "alice", "--yes")
        #expect(try await last()["kind"] as? String == "userDisabled")
        let list = try await harness.run("audit", "list", "--kind", "tokenRevealed", "--kind", "keySlotAdded")
        #expect(list.output.split(separator: "\n").count == 2)
        #expect(list.output.contains("generation=1"))
    }

    @Test func rowsAreFilteredAndLimited() async throws {
        let (harness, login) = try await Self.filled()
        _ = try await harness.run("login", "add", "--user", "bob", "--access-token", "-", input: "CANARY-bob")
        let all = try Self.kinds(try await harness.run("audit", "list", "--json", "--all").output)
        #expect(all.first == "vaultCreated" && all.count >= 3)
        #expect(try Self.kinds(try await harness.run("audit", "list", "--json", "-n", "2").output) == all.suffix(2))
        #expect(try await harness.run("audit", "list", "-n", "0").output.isEmpty)
        let ofAlice = try Self.lines(try await harness.run("audit", "list", "--json", "--user", "alice").output)
        #expect(!ofAlice.isEmpty && ofAlice.allSatisfy { $0["login"] as? String == login })
        let handle = try #require(ofAlice.first?["user"] as? String)
        let byHandle = try await harness.run("audit", "list", "--json", "--user-handle", handle).output
        #expect(try Self.lines(byHandle).count == ofAlice.count)
        #expect(try await harness.run("audit", "list", "--since", "1h", "--json").output.contains("vaultCreated"))
        #expect(try await harness.run("audit", "list", "--until", "1h").output.isEmpty)
        #expect(try await harness.run("audit", "list", "--since", "2999-01-01T00:00:00Z").output.isEmpty)
        #expect(try await harness.run("audit", "list", "--login", login).output.contains(login))
    }

    @Test(
        arguments: [
            (["list", "--user", "nobody"], 2), (["list", "--login", "x"], 1), (["list", "--kind", "x"], 1),
            (["list", "--provider", "nobody"], 2), (["list", "--since", "last week"], 1), (["list", "-n", "-1"], 1),
            (["list", "--user", "alice", "--user-handle", "x"], 1), (["list", "--user-handle", "x"], 1),
            (["list", "-n", "3", "--all"], 1), (["list", "--follow", "--until", "1h"], 1), (["export"], 1),
            (["export", "--jsonl", "--since", "-1"], 1), (["export", "--jsonl", "--since", "4711"], 5),
            (["prune", "--keep-last", "10", "--yes"], 1), (["prune", "--keep", "soon"], 1),
        ] as [([String], Int32)])
    func whatCannotBeIsSaid(_ arguments: [String], _ status: Int32) async throws {
        let (harness, _) = try await Self.filled()
        let result = try await harness.run(["audit"] + arguments)
        #expect(result.status == status, "\(result.error)")
        #expect(result.error.contains("vaultctl: error: ") && result.error.contains("hint: "), "\(result.error)")
    }

    /// Ids of users are shown only where it is asked for, and that is recorded before.
    @Test func namesAreShownOnlyWithARow() async throws {
        let (harness, _) = try await Self.filled()
        #expect(try await !harness.run("audit", "list", "--all").output.contains("alice"))
        #expect(try await !harness.run("audit", "export", "--jsonl").output.contains("alice"))
        #expect(try await !harness.run("audit", "list", "--all").output.contains("usersResolved"))
        let resolved = try Self.lines(
            try await harness.run("audit", "list", "--all", "--resolve", "--json").output)
        #expect(resolved.contains { $0["userId"] as? String == "alice" })
        #expect(resolved.last?["kind"] as? String == "usersResolved", "it is among the rows that it shows")
    }

    @Test func verifyGivesTheHeadThatTheExportEndsWith() async throws {
        let (harness, _) = try await Self.filled()
        let report = try await harness.run("audit", "verify", "--json").json
        let head = try #require(report["head"] as? [String: Any])
        #expect(report["isClean"] as? Bool == true)
        let export = try Self.lines(try await harness.run("audit", "export", "--jsonl").output)
        #expect(export.last?["sequence"] as? Int == head["sequence"] as? Int)
        #expect(export.last?["link"] as? String == head["link"] as? String)
        #expect(export.compactMap { $0["sequence"] as? Int } == Array(1...export.count))
        let text = try await harness.run("audit", "verify").output
        #expect(text.hasPrefix("ok: ") && text.contains("head: \(export.count) "))
        let rest = try await harness.run("audit", "export", "--jsonl", "--since", "2")
        #expect(try Self.lines(rest.output).first?["sequence"] as? Int == 3)
        #expect(rest.error.contains("--since \(export.count)"))
    }

    @Test func aRowThatWasChangedIsToldByEachCommand() async throws {
        let (harness, _) = try await Self.filled()
        let intruder = try TableIntruder(harness.vault)
        try intruder.execute("UPDATE audit SET kind = 31 WHERE sequence = 2")
        for arguments in [["list", "--all"], ["export", "--jsonl"], ["verify"]] {
            let result = try await harness.run(["audit"] + arguments)
            #expect(result.status == 4, "\(arguments): \(result.error)")
            #expect(result.output.contains("chain"), "\(arguments): \(result.output)")
        }
        // No command leads to a list that does not have it, or says that it is whole.
        for command in [["verify"], ["audit", "verify"]] {
            let advice = try await harness.run(command).error
            #expect(advice.contains("keep a copy of the vault"), "\(advice)")
            #expect(!advice.contains("which rows cannot be opened"), "\(advice)")
        }
        let shown = try await harness.run("damage", "show", "audit#2")
        #expect(shown.status == 1 && shown.error.contains("vaultctl audit verify"), "\(shown.error)")
        #expect(!shown.error.contains("not damaged"), "\(shown.error)")
        try intruder.execute("DELETE FROM audit WHERE sequence = 2")
        let export = try await harness.run("audit", "export", "--jsonl")
        #expect(export.status == 4 && export.output.contains(#"{"gap":{"first":2,"through":2}}"#))
    }

    /// A user as a whole that was put back, and nothing else.
    @Test func aFormerStateEndsWithAStatusOfItsOwn() async throws {
        let (harness, login) = try await Self.filled()
        let (intruder, tables) = (try TableIntruder(harness.vault), ["user", "login", "loginSecret"])
        try intruder.keepRows(of: tables)
        _ = try await harness.run(
            ["token", "update", login, "--access-token", "-", "--expires-in", "1h"], input: "CANARY-next")
        try intruder.restoreRows(of: tables)
        let result = try await harness.run("audit", "verify")
        #expect(result.status == 5, "\(result.output)\(result.error)")
        #expect(result.output.contains("a former state was put back"))
    }

    @Test func oldRowsAreRemovedAndTheRestIsWhole() async throws {
        let (harness, login) = try await Self.filled()
        let vault = try await Vault.open(in: harness.location(), unlockedBy: .keyFile(harness.key))
        for _ in 0..<1_200 { _ = try await vault.resolveUsers(purpose: "test") }
        await vault.close()
        let plan = try await harness.run("audit", "prune", "--keep-last", "1000", "--dry-run", "--json").json
        let planned = try #require(plan["removed"] as? Int)
        #expect(planned > 190)
        #expect(try await harness.run("audit", "prune", "--dry-run", "--json").json["removed"] as? Int == 0)
        let unasked = try await harness.run("audit", "prune", "--keep-last", "1000")
        #expect(unasked.status == 1 && unasked.error.contains("--yes"))
        let done = try await harness.run("audit", "prune", "--keep-last", "1000", "--yes", "--json").json
        #expect(done["removed"] as? Int == planned)
        #expect(try await harness.run("verify").status == 0)
        let verify = try await harness.run("audit", "verify", "--json").json
        #expect(verify["prunedThrough"] as? Int == done["through"] as? Int)
        let entries = try #require(verify["auditEntries"] as? Int)
        let status = try await harness.run("status", "--brief", "--json").json
        #expect(status["auditEntries"] as? Int == entries)
        let pruned = try #require(
            try Self.lines(try await harness.run("audit", "list", "--json", "-n", "1").output).last)
        #expect((pruned["pruned"] as? [String: Any])?["removed"] as? Int == planned)
        // The last row about alice is still there, and an export says what is not.
        #expect(try await harness.run("audit", "list", "--login", login).output.contains(login))
        #expect(try await harness.run("events", "--login", login).output.contains(login))
        let export = try await harness.run("audit", "export", "--jsonl")
        #expect(export.status == 3 && export.output.contains("\"gap\""))
        let through = try #require(done["through"] as? Int)
        #expect(try await harness.run("audit", "export", "--jsonl", "--since", "\(through)").status == 0)
    }

    @Test func followingShowsWhatHappens() async throws {
        let (harness, login) = try await Self.filled()
        let script = """
            : >"$dir/rows"
            "$vaultctl" audit list --follow -n 1 --json >>"$dir/rows" 2>"$dir/error" &
            until [ -s "$dir/rows" ]; do sleep 0.05; done
            printf CANARY-x | "$vaultctl" token update \(login) --access-token - --expires-in 1h --quiet >/dev/null
            until grep -q tokenUpdated "$dir/rows"; do sleep 0.05; done
            kill -TERM $!; wait $!; status=$?
            cat "$dir/rows"; cat "$dir/error" >&2
            exit $status
            """
        let result = try await Program(harness: harness).shell(script)
        #expect(result.status == 143, "\(result.error)")
        #expect(result.error.isEmpty, "\(result.error)")
        #expect(try Self.kinds(result.output).last == "tokenUpdated")
        let count = try Self.lines(result.output).count
        #expect(count == 2)
    }
}
