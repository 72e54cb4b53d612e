import Foundation
import TestSupport
import Testing
import VaultControl

@Suite struct ExportCommandTests {
    /// Made by age-keygen for this test.
    private static let identity = "AGE-SECRET-KEY-1Q0SDAFCNN58LHMADQ5ZWXU443QUEGWVYNVQKMZ3N2XKWKXD303MSY0WS8T"
    private static let recipient = "age1ed85ytxaz0h5quwfcz65yf7dsu6jzelg09nan9knfzspuupgnv9qemgxpv"

    private static func logins(_ world: World, _ count: Int = 2) async throws {
        for number in 0..<count { try await world.logIn("user-\(number)") }
    }

    /// What the vault says about the next export.
    private static func leftOut(_ world: World) async throws -> [String: Int] {
        let document = try await world.harness.run("export", "--dry-run", "--json").json
        let reasons = try #require(document["leftOut"] as? [[String: Any]])
        return Dictionary(
            uniqueKeysWithValues: try reasons.map {
                (try #require($0["reason"] as? String), try #require($0["logins"] as? Int))
            })
    }

    @Test func aSealedFileHoldsTheLoginsAndTheVaultHoldsThemBack() async throws {
        try await World.with { world in
            try await Self.logins(world)
            let path = world.harness.path("logins.age")
            let arguments = ["export", "--for", Self.recipient, "--out", path]
            let unasked = try await world.fails(.usage, arguments)
            #expect(unasked.error.contains("--yes") && !FileManager.default.fileExists(atPath: path))
            let stream = try await world.fails(.usage, "export", "--for", Self.recipient, "--out", "-")
            #expect(stream.error.contains("--yes") && stream.output.isEmpty)
            let plan = try await world.ok(arguments + ["--dry-run", "--json"]).json
            #expect(plan["exported"] as? Int == 2 && plan["isDryRun"] as? Bool == true)
            #expect(!FileManager.default.fileExists(atPath: path))
            #expect(try await Self.leftOut(world).isEmpty)
            let done = try await world.ok(arguments + ["--yes", "--json"]).json
            #expect(done["exported"] as? Int == 2 && done["owner"] as? String == "export")
            #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
            let sealed = try Data(contentsOf: URL(filePath: path))
            #expect(sealed.starts(with: Data("age-encryption.org/v1\n".utf8)))
            #expect(sealed.range(of: Data(Harness.marker.utf8)) == nil)
            #expect(try await Self.leftOut(world) == ["heldBySource": 2])
            let shown = try await world.ok("login", "show", "--user", "user-0").output
            #expect(shown.contains("exported to\texport, which renews it"), "\(shown)")
            // Nothing is overwritten, and nothing exported twice by mistake.
            let again = try await world.fails(.usage, arguments)
            #expect(again.error.contains("already exists"))
            let other = ["export", "--yes", "--for", Self.recipient, "--out", world.harness.path("other.age")]
            let none = try await world.fails(.notFound, other)
            #expect(none.error.contains("no login was exported") && none.error.contains("heldBySource"))
            #expect(none.error.contains("add --again") && none.error.contains("import accept NAME"))
            #expect(!FileManager.default.fileExists(atPath: world.harness.path("other.age")))
            try await world.ok(other + ["--again"])
            let refreshes = world.refreshes
            let held = try await world.fails(.rollback, "login", "refresh", "--user", "user-0")
            #expect(held.error.contains("this login is not renewed here"))
            #expect(world.refreshes == refreshes, "the other system renews it")
        }
    }

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/age")))
    func ageOpensTheFile() async throws {
        try await World.with { world in
            try await Self.logins(world)
            try world.harness.file("identity", Self.identity + "\n")
            let program = Program(harness: world.harness)
            let result = try await program.shell(
                """
                "$vaultctl" export --yes --for \(Self.recipient) --out "$dir/logins.age" || exit 1
                /usr/bin/age -d -i "$dir/identity" "$dir/logins.age" >"$dir/opened" || exit 2
                "$vaultctl" export --yes --again --for \(Self.recipient) --out - | /usr/bin/age -d -i "$dir/identity" >"$dir/second"
                """)
            #expect(result.status == 0, "\(result.error)")
            for name in ["opened", "second"] {
                let lines = try String(contentsOfFile: world.harness.path(name), encoding: .utf8).split(separator: "\n")
                #expect(lines.count == 2)
                for line in lines {
                    let login = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
                    #expect(login?["provider"] as? String == "acme")
                    #expect((login?["refresh_token"] as? String)?.contains(Harness.marker) == true)
                }
            }
        }
    }

    @Test func inTheClearItGoesToAnotherProgramAlone() async throws {
        try await World.with { world in
            try await Self.logins(world)
            let program = Program(harness: world.harness)
            let toFile = try await program.shell(#"exec 3>"$dir/plain"; "$vaultctl" export --yes --plain-to-fd 3"#)
            #expect(toFile.status == 1 && toFile.error.contains("not a pipe"))
            #expect(try Data(contentsOf: URL(filePath: world.harness.path("plain"))).isEmpty)
            for descriptor in [0, 2, 7] {
                let refused = try await program.shell("\"$vaultctl\" export --yes --plain-to-fd \(descriptor)")
                #expect(refused.status == 1)
            }
            #expect(try await Self.leftOut(world).isEmpty)
            // A reader that goes away has not got everything. What was held by then is told.
            let broken = try await program.shell(
                #"{ "$vaultctl" export --yes --plain-to-fd 3 3>&1 >&2; echo $? >"$dir/status"; } | true"#)
            let status = try String(contentsOfFile: world.harness.path("status"), encoding: .utf8)
            #expect(["0\n", "10\n"].contains(status))
            #expect(status == "0\n" || broken.error.contains("--again"))
            let piped = try await program.shell(
                #""$vaultctl" export --yes --again --plain-to-fd 3 3>&1 >&2 | /bin/cat >"$dir/piped""#)
            #expect(piped.status == 0, "\(piped.error)")
            let text = try String(contentsOfFile: world.harness.path("piped"), encoding: .utf8)
            #expect(text.split(separator: "\n").count == 2 && text.contains(Harness.marker))
        }
    }

    /// A moment that a source did not give is the import's, and would be taken for the token's at the next import.
    @Test func aMomentThatNobodyToldIsNotExported() async throws {
        try await World.with { world in
            let rows = try world.harness.file(
                "rows.jsonl",
                ImportBench.line("told", subject: "t", access: "A1", refresh: "R1", #""obtained_at":1700000000"#)
                    + ImportBench.line("untold", subject: "u", access: "A2", refresh: "R2"))
            try await world.ok("import", "run", rows, "--name", "web", "--take")
            let piped = try await Program(harness: world.harness).shell(
                #""$vaultctl" export --yes --plain-to-fd 3 3>&1 >&2 | /bin/cat >"$dir/piped""#)
            #expect(piped.status == 0, "\(piped.error)")
            let lines = try String(contentsOfFile: world.harness.path("piped"), encoding: .utf8).split(separator: "\n")
            var moments: [String: String] = [:]
            for line in lines {
                let login = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
                moments[try #require(login?["user"] as? String)] = login?["obtained_at"] as? String ?? "-"
            }
            #expect(moments == ["told": "2023-11-14T22:13:20.000Z", "untold": "-"])
        }
    }

    /// The logins fill a pipe that is read up to some byte: so each export is killed in the middle of its work.
    @Test func whatAKilledExportHasWrittenIsNotWrittenAgain() async throws {
        try await World.with { world in
            let rows = 4_000
            let text = (1...rows).map { number in
                #"{"user":"u\#(number)","provider":"acme","subject":"s\#(number)","refresh_token":"CANARY-\#(number)"}"#
            }.joined(separator: "\n")
            let path = try world.harness.file("rows.jsonl", text)
            try await world.ok("import", "run", path, "--name", "web", "--take")
            let result = try await Program(harness: world.harness).shell(
                """
                mkfifo "$dir/pipe" && exec 4<>"$dir/pipe"
                for bytes in 1 90000 40000; do
                    "$vaultctl" export --yes --plain-to-fd 3 3>&4 >/dev/null 2>&1 & pid=$!
                    head -c $bytes <&4 >>"$dir/killed"
                    kill -9 $pid
                    wait $pid
                    echo $?
                    # What is left in the pipe, and the end of a line that was cut off.
                    timeout 0.2 cat <&4 >>"$dir/killed"
                    echo >>"$dir/killed"
                done
                exec 4<&-
                "$vaultctl" export --yes --plain-to-fd 3 3>&1 >&2 | /bin/cat >"$dir/rest"
                "$vaultctl" export --yes --again --plain-to-fd 3 3>&1 >&2 | /bin/cat >"$dir/all"
                """)
            #expect(result.output.split(separator: "\n") == ["137", "137", "137"], "\(result.error)")
            func users(_ name: String) throws -> [String] {
                try String(contentsOfFile: world.harness.path(name), encoding: .utf8).split(separator: "\n").compactMap
                {
                    let line = try? JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]
                    return line?["user"] as? String
                }
            }
            let (killed, rest, all) = (try users("killed"), try users("rest"), try users("all"))
            #expect(Set(killed).count == killed.count && killed.count > 100)
            #expect(Set(rest).count == rest.count && Set(rest).isDisjoint(with: killed))
            #expect(Set(all).count == rows && all.count == rows)
            try await world.ok("verify")
            let neither = rows - killed.count - rest.count
            print("killed exports: 3, with \(killed.count) of \(rows) logins written, and \(neither) only held")
        }
    }

    @Test func aCopyWantsConfirmationAndHoldsNothing() async throws {
        try await World.with { world in
            try await Self.logins(world, 1)
            let arguments = ["export", "--for", Self.recipient, "--out", world.harness.path("copy.age"), "--copy"]
            let refused = try await world.fails(.usage, arguments)
            #expect(refused.error.contains("--yes"))
            let done = try await world.ok(arguments + ["--yes", "--json"]).json
            #expect(done["owner"] is NSNull && done["exported"] as? Int == 1)
            #expect(try await Self.leftOut(world).isEmpty)
            try await world.ok("login", "refresh", "--user", "user-0")
            let trail = try await world.ok("audit", "list", "--json").output
            #expect(trail.contains("loginExported"))
        }
    }

    @Test func whatAFormHasNoPlaceForIsNamed() async throws {
        try await World.with(provider: ["--dpop", "required"]) { world in
            try await Self.logins(world, 1)
            let arguments = ["export", "--yes", "--for", Self.recipient, "--out", world.harness.path("file.age")]
            let refused = try await world.fails(.notFound, arguments + ["--format", "nango"])
            #expect(refused.error.contains("keyBound"))
            #expect(try await Self.leftOut(world).isEmpty, "it was not held")
            try await world.ok(arguments)
        }
    }

    @Test(arguments: [
        ["--out", "f"], ["--for", "age1nonsense", "--out", "f"], ["--for", recipient],
        ["--for", recipient, "--plain-to-fd", "3"],
        ["--out", "f", "--plain-to-fd", "3"], ["--for", recipient, "--out", "f", "--hold", "--copy"],
        ["--for", recipient, "--out", "-", "--json"], ["--for", recipient, "--out", "f", "--format", "csv"],
        ["--for", recipient, "--out", "f", "--to", ""], ["--for", recipient, "--out", "f", "--copy", "--again"],
    ])
    func anImpossibleExportIsRefusedBeforeAnythingIsDone(_ arguments: [String]) async throws {
        try await World.with { world in
            try await Self.logins(world, 1)
            try await world.fails(.usage, ["export"] + arguments.map { $0 == "f" ? world.harness.path("f") : $0 })
            #expect(!FileManager.default.fileExists(atPath: world.harness.path("f")))
            #expect(try await Self.leftOut(world).isEmpty)
        }
    }

    @Test func aFileThatCannotBeWrittenHoldsNothing() async throws {
        try await World.with { world in
            try await Self.logins(world, 1)
            try await world.fails(
                .machine, "export", "--for", Self.recipient, "--out", world.harness.path("nowhere/logins.age"))
            #expect(try await Self.leftOut(world).isEmpty)
        }
    }
}
