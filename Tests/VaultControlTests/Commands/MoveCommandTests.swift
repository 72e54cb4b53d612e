import EngineSupport
import DevAuthorizationServer
import Foundation
import TestSupport
import Testing
import VaultControl

/// Moving a vault with the commands that an operator has.
@Suite(.tags(.everyEngine))
struct MoveCommandTests {
    private static func address() throws -> String {
        try PostgreSQLServer.shared().address(schema: PostgreSQLServer.newSchema())
    }

    private static func make(_ target: String, _ world: World) async throws -> String {
        let key = world.harness.path("target.key")
        try await world.ok("init", "--vault", target, "--key-file", key)
        return key
    }

    @Test func aFileGoesToAServerAndBackWithItsLogins() async throws {
        try await World.with { world in
            let login = try await world.logIn("alice")
            try await world.logIn("bob")
            try await world.ok("user", "disable", "bob", "--yes")
            let server = try Self.address()
            let key = try await Self.make(server, world)
            let plan = try await world.ok("move", "run", server, "--target-key-file", key, "--dry-run", "--json").json
            #expect(plan["logins"] as? Int == 2 && plan["isDryRun"] as? Bool == true)
            #expect(try await world.ok("move", "status", "--json").json["stage"] is NSNull)
            let report = try await world.ok("move", "run", server, "--target-key-file", key, "--yes", "--json").json
            #expect(report["users"] as? Int == 2 && report["providers"] as? Int == 1)
            #expect(report["target"] as? String == (try await Self.id(of: server, key, world)))
            let refused = try await world.harness.run("login", "refresh", login)
            #expect(
                refused.status == ExitStatus.rollback.rawValue && refused.error.contains("was moved to another vault"))
            #expect(refused.error.contains("vaultctl move status"))
            #expect(try await world.ok("move", "status", "--json").json["stage"] as? String == "left")
            // The same login, renewed where it is now.
            let sent = world.refreshes
            try await world.ok("--vault", server, "--key-file", key, "login", "refresh", login)
            #expect(world.refreshes == sent + 1)
            try await world.ok("--vault", server, "--key-file", key, "verify")
            let users = try await world.ok("--vault", server, "--key-file", key, "user", "list").output
            #expect(users.contains("alice") && users.contains("bob") && users.contains("disabled"))
            // Back into a new file, with the key of the vault that is moved.
            let file = world.harness.path("back.vault")
            try await world.ok("init", "--vault", file, "--key-file", key)
            let back = try await world.ok("--vault", server, "--key-file", key, "move", "run", file, "--yes")
            #expect(back.error.contains("moved 2 logins of 2 users") && back.error.contains("stay with the old vault"))
            try await world.ok("--vault", file, "--key-file", key, "login", "refresh", login)
            try await world.ok("--vault", file, "--key-file", key, "verify")
        }
    }

    private static func id(of vault: String, _ key: String, _ world: World) async throws -> String? {
        try await world.ok("--vault", vault, "--key-file", key, "status", "--json").json["id"] as? String
    }

    @Test func whatCannotBeMovedSaysWhy() async throws {
        try await World.with { world in
            try await world.logIn("alice")
            let file = world.harness.path("target.vault")
            let missing = try await world.harness.run("move", "run", file, "--yes")
            #expect(missing.status == ExitStatus.notFound.rawValue && missing.error.contains("vaultctl init"))
            let key = try await Self.make(file, world)
            let wrong = try await world.harness.run("move", "run", file, "--yes")
            #expect(wrong.status == ExitStatus.key.rawValue)
            let unasked = try await world.harness.run("move", "run", file, "--target-key-file", key)
            #expect(unasked.status == ExitStatus.usage.rawValue && unasked.error.contains("--yes"))
            let itself = try await world.harness.run("move", "run", world.harness.vault, "--yes")
            #expect(itself.status == ExitStatus.usage.rawValue)
            let both = try await world.harness.run(
                "move", "run", file, "--target-key-file", key, "--target-identity", key, "--yes")
            #expect(both.status == ExitStatus.usage.rawValue)
            let password = try await world.harness.run(
                "move", "run", "postgresql://vault:\(Harness.marker)@/postgres", "--yes")
            #expect(password.status == ExitStatus.usage.rawValue && password.error.contains(".pgpass"))
            let nameless = try await world.harness.run("move", "abort", "--yes")
            #expect(nameless.status == ExitStatus.usage.rawValue && nameless.error.contains("--target-is-lost"))
            let none = try await world.harness.run("move", "abort", file, "--target-key-file", key, "--yes")
            #expect(none.status == ExitStatus.usage.rawValue)
            try await world.ok("--vault", file, "--key-file", key, "provider", "profiles")
            // None of it has changed anything.
            #expect(try await world.ok("move", "status").error.contains("part of no move"))
            #expect(try await world.ok("--vault", file, "--key-file", key, "move", "status").error.contains("no move"))
            try await world.ok("move", "run", file, "--target-key-file", key, "--yes")
            // Once more: it is complete, and stays so.
            let again = try await world.ok("move", "run", file, "--target-key-file", key, "--json").json
            #expect(again["wasBegun"] as? Bool == true && again["logins"] as? Int == 1)
            let back = try await world.harness.run(
                "--vault", file, "--key-file", key, "move", "run", world.harness.vault, "--target-key-file",
                world.harness.key, "--yes")
            #expect(back.status == ExitStatus.usage.rawValue)
            #expect(back.error.contains("the target's content was moved to another vault"))
            #expect(back.error.contains("vaultctl init") && !back.error.contains("move status"))
        }
    }

    /// The program is killed, again and again, until it once comes to its end.
    @Test func aKilledMoveIsFinishedByTheNextRun() async throws {
        try await World.with { world in
            let lines = (0..<400).map { number in
                #"{"user":"u\#(number)","provider":"acme","access_token":"\#(Harness.marker)a\#(number)","#
                    + #""refresh_token":"\#(Harness.marker)r\#(number)","expires_at":4000000000,"client_id":"demo"}"#
            }
            let source = try world.harness.file("logins.jsonl", lines.joined(separator: "\n"))
            try await world.ok("import", "run", source)
            let server = try Self.address()
            let key = try await Self.make(server, world)
            let program = Program(harness: world.harness)
            var (kills, delay) = (0, 20)
            while true {
                let run = try await program.shell(
                    "timeout -s KILL \(String(format: "%.3f", Double(delay) / 1_000)) \"$vaultctl\" move run '\(server)' "
                        + "--target-key-file '\(key)' --yes")
                if run.status == 0 { break }
                kills += 1
                // A busy machine may need seconds for the last step alone.
                delay += max(40, delay / 10)
                try #require(kills < 60, "\(run.error)")
            }
            print("a move was killed \(kills) times")
            #expect(kills > 2)
            let status = try await world.ok("--vault", server, "--key-file", key, "status", "--json").json
            #expect(status["logins"] as? Int == 400 && status["users"] as? Int == 400)
            try await world.ok("--vault", server, "--key-file", key, "verify")
            try await world.ok("verify")
        }
    }

    /// Each refusal of a vault whose move has begun names both ways, and none makes another target.
    private static func expectWaysOut(of login: String, _ key: String, _ world: World) async throws {
        for command in [["move", "status"], ["doctor"], ["login", "refresh", login]] {
            let result = try await world.harness.run(command)
            let said = result.output + result.error
            #expect(said.contains("vaultctl move run TARGET") && said.contains("vaultctl move abort TARGET"), "\(said)")
            #expect(said.contains("vaultctl move abort --target-is-lost"))
        }
        let gone = world.harness.path("gone.vault")
        let lost = try await world.fails(.notFound, "move", "run", gone, "--target-key-file", key, "--yes")
        #expect(lost.error.contains("vaultctl move abort --target-is-lost") && !lost.error.contains("vaultctl init"))
    }

    @Test func aMoveThatIsGivenUpCanBeginAnew() async throws {
        try await World.with { world in
            let login = try await world.logIn("alice")
            let file = world.harness.path("target.vault")
            let key = try await Self.make(file, world)
            let program = Program(harness: world.harness)
            // Held, and hardly more.
            var delay = 30
            while try await world.ok("move", "status", "--json").json["stage"] is NSNull {
                try #require(delay < 1_000)
                _ = try await program.shell(
                    "timeout -s KILL 0.\(String(format: "%03d", delay)) \"$vaultctl\" move run '\(file)' "
                        + "--target-key-file '\(key)' --yes")
                delay += 5
            }
            let stage = try await world.ok("move", "status", "--json").json["stage"] as? String
            if stage == "leaving" { try await Self.expectWaysOut(of: login, key, world) }
            let abort = try await world.harness.run("move", "abort", file, "--target-key-file", key, "--yes")
            // It may have been quicker than the clock.
            guard stage == "leaving", abort.status == 0 else {
                #expect(abort.status == ExitStatus.usage.rawValue)
                return
            }
            try await world.ok("login", "refresh", login)
            let other = world.harness.path("other.vault")
            try await world.ok("init", "--vault", other, "--key-file", key)
            try await world.ok("move", "run", other, "--target-key-file", key, "--yes")
            try await world.ok("--vault", other, "--key-file", key, "login", "refresh", login)
            // Complete, whatever has become of the target.
            let gone = world.harness.path("gone.vault")
            let late = try await world.fails(.usage, "move", "abort", gone, "--target-key-file", key, "--yes")
            #expect(late.error.contains("the move is complete") && !late.error.contains("--target-is-lost"))
            let erasure = try await world.ok(
                "--vault", other, "--key-file", key, "user", "erase", "alice", "--dry-run")
            #expect(erasure.error.contains("from which everything was moved here"), "\(erasure.error)")
        }
    }
}
