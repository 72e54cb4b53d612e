import EngineSupport
import Foundation
import Glibc
import Testing
import TokenVault
import VaultControl

/// An older state of the vault that was put back is noticed by every command that names the witness.
@Suite(.tags(.everyEngine))
struct WitnessCommandTests {
    private struct Scene {
        let harness: Harness
        let login: String
        var witness: String { harness.path("app.witness") }
        var environment: [String: String] {
            harness.environment.merging(["TOKENVAULT_WITNESS": witness]) { $1 }
        }

        init() async throws {
            harness = try await BadInputTests.filled()
            let logins = try await harness.run("login", "list", "--user", "alice", "--json").json["logins"]
            login = try #require((logins as? [[String: Any]])?.first?["id"] as? String)
            let begun = try await run("witness", "begin")
            #expect(begun.status == 0, "\(begun.error)")
        }

        func run(_ arguments: String..., input: String = "") async throws -> RunResult {
            try await harness.run(arguments, input: input, environment: environment)
        }

        func update() async throws -> RunResult {
            try await run(
                "token", "update", login, "--access-token", "-", "--expires-in", "1h", input: "CANARY-next")
        }

        func copy(_ from: String, _ to: String) throws {
            for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: to + suffix) }
            try? FileManager.default.removeItem(atPath: to)
            try FileManager.default.copyItem(atPath: from, toPath: to)
        }
    }

    /// On a server, this machine remembers how far the vault had come and has held all logins, as after a restore.
    private static let older =
        TestEngine.isServer ? "the witness has seen more of the vault" : "an older state of the vault was put back"

    @Test func anOlderVaultIsRefusedUntilItIsAccepted() async throws {
        let scene = try await Scene()
        #expect(try await scene.update().status == 0)
        let intruder = try TableIntruder(scene.harness.vault)
        try intruder.keepRows()
        #expect(try await scene.update().status == 0)
        let note = try String(contentsOfFile: scene.witness, encoding: .utf8)
        #expect(note.hasPrefix("tokenvault/"))
        try intruder.restoreRows()
        for arguments in [["token", "get", scene.login], ["witness", "show"], ["status"], ["audit", "list"]] {
            let result = try await scene.harness.run(arguments, environment: scene.environment)
            #expect(result.status == 5, "\(arguments): \(result.error)")
            #expect(result.error.contains(Self.older), "\(result.error)")
            #expect(result.error.contains("vaultctl witness accept"), "\(result.error)")
        }
        #expect(try await scene.harness.run("token", "get", scene.login).status == 0, "without it nobody can know")
        #expect(
            try String(contentsOfFile: scene.witness, encoding: .utf8) == note, "it was not put back with the vault")
        #expect(try await scene.run("witness", "accept").status == 1, "it is asked for")
        let accepted = try await scene.run("witness", "accept", "--yes")
        #expect(accepted.status == 0, "\(accepted.error)")
        let again = try await scene.run("witness", "accept", "--yes")
        #expect(again.status == 1 && again.error.contains("nothing to accept"), "\(again.error)")
        #expect(again.error.contains("vaultctl restore hold"), "\(again.error)")
        let shown = try await scene.run("witness", "show", "--json")
        #expect(shown.status == 0, "\(shown.error)")
        #expect(try shown.json["sharesDevice"] as? Bool == !TestEngine.isServer)
        let rows = try await scene.run("audit", "list", "-n", "1")
        #expect(rows.output.contains("witnessReplaced"))
        // In a new incarnation: what is older is held.
        let before = try #require(note.split(separator: "\n").dropFirst(3).first?.split(separator: " ").last)
        #expect(try shown.json["incarnation"] as? Int == (try #require(Int(before))) + 1)
        #expect(try await scene.run("verify").status == 0)
    }

    @Test(.aboutFiles("a copy of the vault's file is used beside it"))
    func twoCopiesInUseAreToldApartFromAnOlderState() async throws {
        let scene = try await Scene()
        #expect(try await scene.update().status == 0)
        let copy = scene.harness.path("copy")
        try scene.copy(scene.harness.vault, copy)
        // The copy is used without the witness, the vault with it.
        var aside = scene.harness.environment
        aside["TOKENVAULT_VAULT"] = copy
        for _ in 0..<3 {
            let result = try await scene.harness.run(
                ["token", "update", scene.login, "--access-token", "-", "--expires-in", "2h"], input: "CANARY-x",
                environment: aside)
            #expect(result.status == 0, "\(result.error)")
        }
        #expect(try await scene.update().status == 0)
        try scene.copy(copy, scene.harness.vault)
        let result = try await scene.run("witness", "show")
        #expect(result.status == 5 && result.error.contains("two copies of the vault are in use"), "\(result.error)")
    }

    @Test func doctorSaysWhereItShouldLie() async throws {
        let scene = try await Scene()
        let without = try await scene.harness.run("doctor")
        #expect(without.output.contains("no witness is named, and this vault has had one since"), "\(without.output)")
        let never = try await BadInputTests.filled().run("doctor")
        #expect(never.output.contains("no witness is named:"), "\(never.output)")
        let with = try await scene.run("doctor")
        #expect(with.output.contains("the vault's own file system") == !TestEngine.isServer, "\(with.output)")
        #expect(try await scene.harness.run("witness", "show").status == 1)
        let log = try await scene.harness.run("status", "--witness-log", scene.harness.path("log"))
        #expect(log.status == 1 && log.error.contains("--witness"))
    }

    /// The script that is installed, named by an option, a variable or the configuration file.
    @Test func aProgramRemembersInsteadOfAFile() async throws {
        let scene = try await Scene()
        let harness = scene.harness
        let note = harness.path("kept.note")
        let program = #"["\#(Installation.root)/packaging/witness/keep-newest", "\#(note)"]"#
        let option = ["--witness-command", program]
        #expect(try await harness.run(["status"] + option).status == 5, "it has no note yet")
        let second = try await harness.run(["witness", "begin"] + option)
        #expect(second.status == 5 && second.error.contains("has had a witness since"), "\(second.error)")
        // The witness moves with its note.
        try FileManager.default.copyItem(atPath: scene.witness, toPath: note)
        #expect(try await harness.run(["status"] + option).status == 0)
        let intruder = try TableIntruder(harness.vault)
        try intruder.keepRows()
        var environment = harness.environment
        environment["TOKENVAULT_WITNESS_COMMAND"] = program
        let refreshed = try await harness.run(
            ["token", "update", scene.login, "--access-token", "-", "--expires-in", "1h"], input: "CANARY-next",
            environment: environment)
        #expect(refreshed.status == 0, "\(refreshed.error)")
        let newest = try String(contentsOfFile: note, encoding: .utf8)
        let shown = try await harness.run(["witness", "show", "--json"] + option)
        #expect(
            try shown.json["sequence"] as? Int == newest.split(separator: "\n").dropFirst().first.flatMap { Int($0) })
        #expect(try shown.json["sharesDevice"] as? Bool == false)
        #expect(try await harness.run(["doctor"] + option).output.contains("has seen no newer state"))

        try intruder.restoreRows()
        let configuration = harness.path("witness.toml")
        try Data("witness-command = \(program)\n".utf8).write(to: URL(filePath: configuration))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: configuration)
        for arguments in [option, ["--config", configuration]] {
            let refused = try await harness.run(["status"] + arguments)
            #expect(refused.status == 5 && refused.error.contains(Self.older), "\(refused.error)")
        }
        #expect(try String(contentsOfFile: note, encoding: .utf8) == newest)
        let accepted = try await harness.run(["witness", "accept", "--yes", "--json"] + option)
        #expect(accepted.status == 0, "\(accepted.error)")
        #expect(try accepted.json["holdsAllLogins"] as? Bool == !TestEngine.isServer)
        #expect(try await harness.run(["verify"] + option).status == 0)
    }

    @Test func aProgramThatFailsIsAnErrorOfTheMachine() async throws {
        let scene = try await Scene()
        let harness = scene.harness
        for (program, status, words) in [
            (
                #"["/bin/false"]"#, Int32(10),
                "the witness does not answer: the program /bin/false ended with exit code 1"
            ),
            (#"["/none"]"#, 10, "does not exist"), (#"["/bin/echo"]"#, 5, "the witness says nothing about this vault"),
            ("nonsense", 1, "--witness-command is not a JSON array of texts"), (#"["cat"]"#, 1, "absolute path"),
        ] {
            let result = try await harness.run("status", "--witness-command", program)
            #expect(result.status == status && result.error.contains(words), "\(result.error)")
            #expect(result.error.contains("hint"), "\(result.error)")
        }
        let both = try await scene.harness.run(
            "status", "--witness", scene.witness, "--witness-command", #"["/bin/false"]"#)
        #expect(both.status == 1 && both.error.contains("--witness and --witness-command cannot be combined"))
        // An option takes the place of a variable.
        var environment = scene.environment
        #expect(
            try await harness.run(["status", "--witness-command", #"["/bin/false"]"#], environment: environment).status
                == 10)
        environment["TOKENVAULT_WITNESS_COMMAND"] = #"["/bin/false"]"#
        let twice = try await harness.run(["status"], environment: environment)
        #expect(twice.status == 1 && twice.error.contains("TOKENVAULT_WITNESS_COMMAND cannot be combined"))
    }

    // MARK: Notes

    /// As an unmounted disk leaves it.
    @Test func aNoteThatIsGoneIsNoAgreement() async throws {
        let scene = try await Scene()
        let note = try String(contentsOfFile: scene.witness, encoding: .utf8)
        try FileManager.default.removeItem(atPath: scene.witness)
        for witness in [scene.witness, scene.harness.path("unmounted/app.witness")] {
            for arguments in [["status"], ["witness", "show"], ["login", "list"]] {
                let refused = try await scene.harness.run(arguments + ["--witness", witness])
                #expect(refused.status == 5, "\(arguments): \(refused.error)")
                #expect(refused.error.contains(witness) && refused.error.contains("witness accept"), "\(refused.error)")
                #expect(!refused.error.contains("witness begin"), "\(refused.error)")
                #expect(!FileManager.default.fileExists(atPath: witness))
            }
        }
        try scene.harness.file("app.witness", note)
        #expect(try await scene.run("status").status == 0)
        let again = try await scene.run("witness", "begin")
        #expect(again.status == 1 && again.error.contains(scene.witness), "\(again.error)")
        #expect(try await scene.run("audit", "list").output.contains("witnessBegun"))
    }

    /// An older state was put back, and the note removed with it: a first note would send spent refresh tokens.
    @Test func aLostNoteIsNoReasonToBeginAgain() async throws {
        let scene = try await Scene()
        let note = try String(contentsOfFile: scene.witness, encoding: .utf8)
        for isEmptied in [false, true] {
            try FileManager.default.removeItem(atPath: scene.witness)
            if isEmptied { try scene.harness.file("app.witness", "") }
            let refused = try await scene.run("witness", "begin")
            #expect(refused.status == 5 && refused.error.contains("has had a witness since 2"), "\(refused.error)")
            #expect(refused.error.contains("witness accept") && !refused.error.contains("witness begin"))
            if isEmptied { try FileManager.default.removeItem(atPath: scene.witness) }
            try scene.harness.file("app.witness", note)
            #expect(try await scene.run("status").status == 0)
        }
        try FileManager.default.removeItem(atPath: scene.witness)
        let accepted = try await scene.run("witness", "accept", "--yes", "--json")
        #expect(try accepted.json["holdsAllLogins"] as? Bool == true, "\(accepted.error)")
        try FileManager.default.removeItem(atPath: scene.witness)
        #expect(try await scene.run("witness", "begin").status == 5)
    }

    @Test func aFailedBeginningLeavesNoTrace() async throws {
        let harness = try await BadInputTests.filled()
        for witness in [["--witness", harness.path("none") + "/note"], ["--witness-command", #"["/bin/false"]"#]] {
            let failed = try await harness.run(["witness", "begin"] + witness)
            #expect(failed.status == 10, "\(failed.error)")
        }
        let begun = try await harness.run("witness", "begin", "--witness", harness.path("note"))
        #expect(begun.status == 0, "\(begun.error)")
    }

    @Test func showingChangesNothing() async throws {
        let scene = try await Scene()
        let note = try String(contentsOfFile: scene.witness, encoding: .utf8)
        // Written without the witness, which is therefore behind.
        let updated = try await scene.harness.run(
            ["token", "update", scene.login, "--access-token", "-", "--expires-in", "1h"], input: "CANARY-x")
        #expect(updated.status == 0)
        let shown = try await scene.run("witness", "show", "--json")
        #expect(shown.status == 0, "\(shown.error)")
        #expect(try shown.json["sequence"] as? Int == note.split(separator: "\n").dropFirst().first.flatMap { Int($0) })
        #expect(try String(contentsOfFile: scene.witness, encoding: .utf8) == note)
    }

    /// A pipe, like a device, reads as empty: neither waited for nor replaced. An empty file is one that was made ready.
    @Test func whatIsNoFileIsNoWitness() async throws {
        let harness = try await BadInputTests.filled()
        let pipe = harness.path("pipe")
        #expect(unsafe mkfifo(pipe, 0o600) == 0)
        for words in [["begin"], ["accept", "--yes"], ["show"]] {
            let refused = try await harness.run(["witness"] + words + ["--witness", pipe])
            #expect(refused.status != 0 && refused.error.contains("regular file"), "\(words): \(refused.error)")
        }
        let type = try FileManager.default.attributesOfItem(atPath: pipe)[.type] as? FileAttributeType
        #expect(type == .typeUnknown)
        let empty = try harness.file("empty", "")
        let begun = try await harness.run("witness", "begin", "--witness", empty)
        #expect(begun.status == 0, "\(begun.error)")
        #expect(try await harness.run("status", "--witness", empty).status == 0)
    }

    @Test func nothingIsHeldForANoteThatCannotBeWritten() async throws {
        let harness = try await BadInputTests.filled()
        let path = harness.path("note")
        // In the way of what becomes the note.
        try FileManager.default.createDirectory(atPath: path + ".tmp", withIntermediateDirectories: false)
        let program = ["--witness-command", #"["/bin/false"]"#]
        for witness in [["--witness", harness.path("nosuch") + "/note"], ["--witness", path], program] {
            let refused = try await harness.run(["witness", "accept", "--yes"] + witness)
            #expect(refused.status == 10 && refused.error.contains("hint: "), "\(witness): \(refused.error)")
        }
        #expect(try await harness.run("audit", "list", "--kind", "witnessReplaced").output.isEmpty)
        try FileManager.default.removeItem(atPath: path + ".tmp")
        #expect(try await harness.run("witness", "accept", "--yes", "--witness", path).status == 0)
        #expect(try await harness.run("audit", "list", "--kind", "witnessReplaced").output.isEmpty == false)
    }

    /// Slips of the hand: the witness log is named like something else. One line more would destroy a key.
    @Test(.aboutFiles("the vault's file is one of them"))
    func nothingButALogIsWrittenTo() async throws {
        let harness = try await BadInputTests.filled()
        let note = harness.path("note")
        #expect(try await harness.run("witness", "begin", "--witness", note).status == 0)
        let other = try Harness()
        try await other.run("init")
        let text = try harness.file("notes.txt", "buy milk\n")
        let link = harness.path("link")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: harness.key)
        for path in [harness.vault, harness.vault + ".lock", harness.key, note, text, other.vault, other.key, link] {
            let before = FileManager.default.contents(atPath: path)
            let refused = try await harness.run("status", "--witness", note, "--witness-log", path)
            #expect(refused.status == 1, "\(path): \(refused.error)")
            // A command that opens the vault may write to the note.
            if path != note { #expect(FileManager.default.contents(atPath: path) == before, "\(path)") }
        }
        // Not there yet, and named by another way to the same directory.
        for ending in [".spool", "-journal"] {
            let path = harness.directory + "/./" + URL(filePath: harness.vault).lastPathComponent + ending
            let refused = try await harness.run("witness", "begin", "--witness", path)
            #expect(refused.status == 1 && refused.error.contains("is named like the vault"), "\(refused.error)")
        }
        let log = try harness.file("log", "")
        for _ in 0..<2 { #expect(try await harness.run("status", "--witness", note, "--witness-log", log).status == 0) }
        #expect(try String(contentsOfFile: log, encoding: .utf8).hasPrefix("begin "))
    }

    /// Slips of the hand: the witness is named like something else.
    @Test(.aboutFiles("the vault's file is one of them"), arguments: ["begin", "accept"])
    func nothingButANoteIsReplaced(_ verb: String) async throws {
        let scene = try await Scene()
        let harness = scene.harness
        let notes = try harness.file("notes.txt", "buy milk\n")
        let other = try Harness()
        try await other.run("init")
        let link = harness.path("link")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: harness.key)
        for path in [harness.vault, harness.vault + ".lock", harness.key, notes, other.vault, other.key, link] {
            let before = FileManager.default.contents(atPath: path)
            for arguments in [["witness", verb, "--yes"], ["status"]] {
                let words = arguments.filter { verb == "accept" || $0 != "--yes" }
                let refused = try await harness.run(words + ["--witness", path])
                #expect(refused.status != 0 && refused.error.contains(path), "\(words) \(path): \(refused.error)")
                #expect(FileManager.default.contents(atPath: path) == before, "\(path)")
            }
        }
        // It says what the file is, not that it has a note already.
        let told = try await harness.run(["witness", verb, "--witness", notes] + (verb == "accept" ? ["--yes"] : []))
        #expect(told.status == 1 && told.error.contains("is not a witness's note"), "\(told.error)")
        for name in ["notes.txt.lock", "notes.txt.tmp"] {
            #expect(!FileManager.default.fileExists(atPath: harness.path(name)))
        }
        let held = try await scene.run("login", "list", "--json")
        #expect(held.status == 0 && !held.output.contains("held\":true"), "\(held.output)")
        #expect(try await scene.run("verify").status == 0)
    }
}
