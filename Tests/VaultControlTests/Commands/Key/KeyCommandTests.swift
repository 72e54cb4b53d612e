import EngineSupport
import Foundation
import Testing
import VaultControl

@Suite(.tags(.everyEngine))
struct KeyCommandTests {
    @Test func initMakesAVaultAndAKeyThatOnlyTheOwnerCanRead() async throws {
        let harness = try Harness()
        let made = try await harness.run("init", "--json")
        #expect(made.status == 0, "\(made.error)")
        #expect(try made.json["keyFileIsNew"] as? Bool == true)
        for path in TestEngine.isServer ? [harness.key] : [harness.vault, harness.key] {
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
        }
        #expect(try await harness.run("status").status == 0)
        #expect(try await harness.run("verify").output.hasPrefix("ok: "))
    }

    @Test func dataKeysAreReplacedForOneUserOrForAll() async throws {
        try await World.with { world in
            for user in ["alice", "bob"] { try await world.logIn(user) }
            try await world.fails(.usage, "key", "rotate", "--data-keys", "--abort")
            try await world.fails(.usage, "key", "rotate", "--user", "alice")
            try await world.fails(.notFound, "key", "rotate", "--data-keys", "--user", "carol")
            let one = try await world.ok("key", "rotate", "--data-keys", "--user", "alice", "--json").json
            #expect(one["replaced"] as? Int == 1 && one["damaged"] as? Int == 0)
            #expect(
                try await world.ok("key", "rotate", "--data-keys", "--older-than", "1h", "--json").json["replaced"]
                    as? Int == 0)
            #expect(try await world.ok("key", "rotate", "--data-keys").error.contains("2 users with a new data key"))
            for user in ["alice", "bob"] { try await world.ok("token", "get", "--user", user, "--reveal") }
            #expect(
                try await world.ok("audit", "list", "--kind", "dataKeyReplaced").output.split(separator: "\n").count
                    == 3)
            try await world.ok("verify")
        }
    }

    @Test func theIndexKeyIsReplacedAndEveryoneIsFound() async throws {
        try await World.with { world in
            for user in ["alice", "bob"] { try await world.logIn(user) }
            try await world.fails(.usage, "key", "rotate", "--index", "--abort")
            try await world.fails(.usage, "key", "rotate", "--dry-run")
            let before = try await world.ok("key", "rotate", "--status", "--json").json
            let plan = try await world.ok("key", "rotate", "--index", "--dry-run", "--json").json
            #expect(plan["users"] as? Int == 2 && plan["providers"] as? Int == 1 && plan["isResumed"] as? Bool == false)
            let index = before["index"] as? [String: Any]
            #expect(index?["isReplacing"] as? Bool == false && index?["madeAt"] is String)
            let report = try await world.ok("key", "rotate", "--index", "--json").json
            #expect(report["isComplete"] as? Bool == true && report["damaged"] as? Int == 0)
            #expect((report["moved"] as? [String: Any])?["users"] as? Int == 2)
            #expect(try await world.ok("key", "rotate", "--index").error.contains("3 rows found by the new one"))
            for user in ["alice", "bob"] { try await world.ok("token", "get", "--user", user, "--reveal") }
            try await world.fails(.notFound, "token", "get", "--user", "carol", "--reveal")
            #expect(
                try await world.ok("audit", "list", "--kind", "indexKeyReplaced").output.split(separator: "\n").count
                    == 4)
            try await world.ok("verify")
            let checks = try await world.harness.run("doctor", "--json").json["findings"] as? [[String: Any]]
            let check = checks?.first { $0["check"] as? String == "indexKey" }
            #expect(check?["level"] as? String == "ok")
        }
    }

    @Test func theAuditKeyIsReplacedAndTheTrailIsWhole() async throws {
        try await World.with { world in
            try await world.logIn("alice")
            try await world.fails(.usage, "key", "rotate", "--audit", "--index")
            let witness = ["--witness", world.harness.path("app.witness")]
            try await world.ok(["witness", "begin"] + witness)
            let report = try await world.ok(["key", "rotate", "--audit", "--json"] + witness).json
            #expect(report["formerKeys"] as? Int == 1 && report["madeAt"] is String)
            #expect(try await world.ok("key", "rotate", "--audit").error.contains("2 former keys kept"))
            let status = try await world.ok("key", "rotate", "--status", "--json").json
            #expect((status["audit"] as? [String: Any])?["formerKeys"] as? Int == 2)
            #expect(
                try await world.ok("audit", "list", "--kind", "auditKeyReplaced").output.split(separator: "\n").count
                    == 4)
            for command in [["verify"], ["audit", "verify"], ["status"], ["audit", "list", "--all"]] {
                #expect(try await world.ok(command + witness).output.contains("damaged") == false)
            }
            try await world.ok("token", "get", "--user", "alice", "--reveal")
        }
    }

    @Test func initOverwritesNothing() async throws {
        let harness = try Harness()
        try await harness.run("init")
        let key = try Data(contentsOf: URL(filePath: harness.key))
        let again = try await harness.run("init")
        #expect(again.status == 1)
        #expect(again.error.contains(TestEngine.isServer ? "already a vault in the schema" : "a file already exists"))
        #expect(try Data(contentsOf: URL(filePath: harness.key)) == key)
        #expect(try await harness.run("status").status == 0)
    }

    @Test func aSecondVaultTakesTheKeyFileThatIsThere() async throws {
        let harness = try Harness()
        try await harness.run("init")
        let second = try await harness.run("init", "--vault", harness.path("second.vault"), "--json")
        #expect(second.status == 0, "\(second.error)")
        #expect(try second.json["keyFileIsNew"] as? Bool == false)
        #expect(try await harness.run("status", "--vault", harness.path("second.vault")).status == 0)
    }

    @Test func initThatCannotMakeTheVaultLeavesNoKeyBehind() async throws {
        let harness = try Harness()
        let result = try await harness.run(
            "init", "--vault", harness.path("no/such/place.vault"), "--key-file", harness.path("stray.key"))
        #expect(result.status != 0)
        #expect(!FileManager.default.fileExists(atPath: harness.path("stray.key")))
    }

    @Test func anyKeyOpensTheVaultAndTheLastOneStays() async throws {
        let harness = try Harness()
        try await harness.run("init")
        let added = try await harness.run("key", "add", "--new-key-file", harness.path("second.key"), "--label", "copy")
        #expect(added.status == 0, "\(added.error)")
        let slots = try await harness.run("key", "list", "--json").json["keySlots"] as? [[String: Any]]
        #expect(slots?.count == 2)
        #expect(slots?.contains { $0["label"] as? String == "copy" && $0["id"] as? String == added.line } == true)
        #expect(try await harness.run("status", "--key-file", harness.path("second.key")).status == 0)
        let first = try #require(slots?.first { $0["id"] as? String != added.line }?["id"] as? String)
        // The key that opens the vault goes only if another one shows that it does, too. That is said before it is asked.
        let unproven = try await harness.run("key", "remove", first, "--yes")
        #expect(unproven.status == 1 && unproven.error.contains("in the same command: --proven-by-key-file"))
        let second = ["--proven-by-key-file", harness.path("second.key")]
        let unasked = try await harness.run(["key", "remove", first] + second)
        #expect(unasked.status == 1 && unasked.error.contains("--yes"))
        let same = try await harness.run(
            "key", "remove", first, "--yes", "--proven-by-key-file", harness.path("app.key"))
        #expect(same.status == 7 && same.error.contains("opens none of the key slots that would stay"), "\(same.error)")
        #expect(try await harness.run(["key", "remove", first, "--yes"] + second).status == 0)
        #expect(try await harness.run("status").status == 7)
        let last = try await harness.run("key", "remove", added.line, "--key-file", harness.path("second.key"))
        #expect(last.status == 1 && last.error.contains("last key slot") && !last.error.contains("undone"))
        #expect(try await harness.run("status", "--key-file", harness.path("second.key")).status == 0)
        #expect(
            try await harness.run("key", "remove", "nonsense", "--yes", "--key-file", harness.path("second.key")).status
                == 2)
    }

    @Test func aKeyIsProvenByAPassphrase() async throws {
        let harness = try Harness()
        try await harness.run("init")
        let file = try harness.file("passphrase", Harness.marker + "horse")
        let added = try await harness.run("key", "add", "--new-passphrase-file", file)
        #expect(added.status == 0, "\(added.error)")
        let slots = try await harness.run("key", "list", "--json").json["keySlots"] as? [[String: Any]]
        let first = try #require(slots?.first { $0["id"] as? String != added.line }?["id"] as? String)
        let remove = ["key", "remove", first, "--yes", "--proven-by-passphrase"]
        #expect(try await harness.run(remove + ["CANARY-value"]).error.contains("command line"))
        let wrong = try await harness.run(remove + ["-"], input: Harness.marker + "battery")
        #expect(wrong.status == 7, "\(wrong.error)")
        let removed = try await harness.run(remove + ["-"], input: Harness.marker + "horse")
        #expect(removed.status == 0, "\(removed.error)")
    }

    @Test func passphraseComesFromFileDescriptorOrInput() async throws {
        let harness = try Harness()
        let environment = ["TOKENVAULT_VAULT": harness.vault]
        let file = try harness.file("passphrase", Harness.marker + "pässphrase\n")
        let made = try await harness.run("init", "--passphrase-file", file, environment: environment)
        #expect(made.status == 0, "\(made.error)")
        let opened = try await harness.run(
            "status", "--passphrase", "-", input: Harness.marker + "pässphrase", environment: environment)
        #expect(opened.status == 0, "\(opened.error)")
        let wrong = try await harness.run(
            "status", "--passphrase", "-", input: Harness.marker + "wrong", environment: environment)
        #expect(wrong.status == 7)
        let empty = try await harness.run("status", "--passphrase", "-", input: "\n", environment: environment)
        #expect(empty.status == 7)
        #expect(empty.error.contains("the passphrase is empty"))
        let long = try await harness.run(
            "status", "--passphrase", "-", input: String(repeating: "x", count: 70_000), environment: environment)
        #expect(long.status == 7)
        let nul = try await harness.run("status", "--passphrase", "-", input: "a\u{0}b", environment: environment)
        #expect(nul.status == 7)
    }
}
