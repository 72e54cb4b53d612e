import DevAuthorizationServer
import Foundation
import Glibc
import TestSupport
import Testing
import VaultControl

/// What an operator sees of a renewal that some process holds, and what he can do about it.
struct OpenRenewalTests {
    /// A process in the middle of a renewal: the request is out, and the reply does not come.
    static func midway(_ world: World, _ login: String) async throws -> PseudoTerminal {
        world.server.faults.add(.delay(.seconds(300), afterActing: true).times(1))
        let before = world.refreshes
        let terminal = try PseudoTerminal(["login", "refresh", login], environment: world.harness.environment)
        try await eventually { world.refreshes != before }
        try #require(world.refreshes == before + 1, "\(terminal.screen)")
        return terminal
    }

    /// The same, and the process is stopped for longer than a renewal can take.
    static func stalled(_ world: World, _ login: String) async throws -> PseudoTerminal {
        let terminal = try await midway(world, login)
        terminal.send(SIGSTOP)
        // A renewal takes as long as the provider is given: with a shorter time, the stop is longer than that at once.
        let profile = try world.harness.file(
            "short.json",
            """
            {"profile":1,"name":"short","source":[{"url":"u","read":"2026-01-31"}],\
            "limits":{"connectSeconds":1,"timeoutSeconds":1}}
            """)
        try await world.ok("provider", "update", "acme", "--profile-file", profile, "--yes")
        try await eventually(every: .seconds(1)) { try await step(world, login) == "takeOverStalled" }
        return terminal
    }

    private static func show(_ world: World, _ login: String) async throws -> [String: Any] {
        try await world.ok("login", "show", login, "--json").json
    }

    private static func step(_ world: World, _ login: String) async throws -> String? {
        (try await show(world, login)["nextStep"] as? [String: Any])?["step"] as? String
    }

    @Test func aLoginAtRestNeedsNothing() async throws {
        try await World.with { world in
            let login = try await world.logIn("alice")
            let shown = try await Self.show(world, login)
            #expect(shown["renewal"] is NSNull)
            #expect(try await Self.step(world, login) == "renewWhenNeeded")
            let words = try await world.ok("login", "show", login)
            #expect(words.output.contains("next step\tnone: it is renewed when a call needs it\n"))
            #expect(words.output.contains("generation\t1\n"))
            let refused = try await world.fails(.usage, "login", "take-over", login, "--yes")
            #expect(refused.error.contains("no process has begun to renew"))
        }
    }

    @Test func runningRenewalShowsItsOwnerAndIsNotTakenOver() async throws {
        try await World.with { world in
            let login = try await world.logIn("alice")
            let terminal = try await Self.midway(world, login)
            let renewal = try #require(try await Self.show(world, login)["renewal"] as? [String: Any])
            #expect(renewal["owner"] as? String == "otherProcess")
            #expect(renewal["tries"] as? Int == 1)
            #expect(try await Self.step(world, login) == "waitForRenewal")
            let refused = try await world.harness.run("login", "take-over", login)
            #expect(refused.status == 1)
            #expect(refused.error.contains("the provider sees the same refresh token twice"))
            #expect(refused.error.contains("wait, and check again"))
            #expect(refused.error.contains("add --yes"))
            #expect(try await Self.step(world, login) == "waitForRenewal")
            let doctor = try await world.harness.run("doctor")
            #expect(doctor.output.contains("ok\trenewal\t\(login)\tbegun"))
            terminal.send(SIGKILL)
            _ = try await terminal.exitCode()
        }
    }

    @Test func aRenewalOfADeadProcessNeedsNoTakeOver() async throws {
        try await World.with { world in
            let login = try await world.logIn("alice")
            let other = try await world.logIn("bob")
            let terminal = try await Self.midway(world, login)
            terminal.send(SIGKILL)
            _ = try await terminal.exitCode()
            let renewal = try #require(try await Self.show(world, login)["renewal"] as? [String: Any])
            #expect(renewal["owner"] as? String == "dead")
            #expect((renewal["doubt"] as? [String: Any])?["cause"] as? String == "ownerDied")
            #expect(try await Self.step(world, login) == "recover")
            let words = try await world.ok("login", "show", login)
            #expect(words.output.contains("by a process that has ended"))
            #expect(words.output.contains("vaultctl login refresh \(login)"))
            let refused = try await world.fails(.usage, "login", "take-over", login, "--yes")
            #expect(refused.error.contains("has ended, so there is no renewal to take over"))
            let doctor = try await world.harness.run("doctor")
            #expect(doctor.status == 3)
            #expect(doctor.output.contains("warning\trenewal\t\(login)\tbegun"))
            // A command that runs once does its own work, and sends nothing for other people's logins.
            let sent = world.refreshes
            try await world.ok("token", "get", other)
            try await world.ok("outbox", "retry")
            try await world.ok("user", "list")
            #expect(world.refreshes == sent)
            try await world.ok("login", "refresh", other)
            #expect(world.refreshes == sent + 1)
            #expect(try await Self.step(world, login) == "recover")
        }
    }

    /// What is settled for a process that has died is this pass's work, and is told like any other.
    @Test func whatAPassSettlesIsCountedAndTold() async throws {
        try await World.with { world in
            let login = try await world.logIn("alice")
            let terminal = try await Self.midway(world, login)
            terminal.send(SIGKILL)
            _ = try await terminal.exitCode()
            let pass = try await world.harness.run("maintain", "--once", "--json")
            let outcomes = try #require(try pass.json["outcomes"] as? [String: Int])
            let isDead = try await world.ok("login", "list", "--state", "dead").output.contains(login)
            #expect(outcomes == [isDead ? "dead" : "renewed": 1], "\(pass.output)")
            #expect(pass.status == (isDead ? 3 : 0) && pass.error.contains(login), "\(pass.error)")
            let next = try await world.ok("maintain", "--once", "--json").json
            #expect((next["outcomes"] as? [String: Int])?.isEmpty == true)
        }
    }

    @Test func aStalledOwnerIsRobbedOnlyByAPersonWhoTypesIt() async throws {
        try await World.with { world in
            let login = try await world.logIn("alice")
            let owner = try await Self.stalled(world, login)
            let doctor = try await world.harness.run("doctor", "--json")
            #expect(doctor.status == 3)
            let findings = try #require(try doctor.json["findings"] as? [[String: Any]])
            let renewal = try #require(findings.first { $0["check"] as? String == "renewal" })
            #expect(renewal["level"] as? String == "warning")
            #expect((renewal["hint"] as? String)?.contains("vaultctl login take-over \(login)") == true)
            for answer in ["y\n", "\n", "take\n"] {
                let terminal = try PseudoTerminal(
                    ["login", "take-over", login], environment: world.harness.environment)
                try await terminal.wait(for: "Type take over to take over the renewal: ")
                #expect(terminal.screen.contains("Ending that process instead is safe"))
                terminal.type(answer)
                #expect(try await terminal.exitCode() == 1, "\(terminal.screen)")
            }
            #expect(try await Self.step(world, login) == "takeOverStalled")
            let entries = try await world.ok("status", "--json").json["auditEntries"] as? Int ?? 0
            let terminal = try PseudoTerminal(["login", "take-over", login], environment: world.harness.environment)
            try await terminal.wait(for: "Type take over")
            terminal.type("take over\n")
            #expect(try await terminal.exitCode() == 0, "\(terminal.screen)")
            let shown = try #require(try await Self.show(world, login)["renewal"] as? [String: Any])
            #expect(shown["owner"] as? String == "nobody")
            #expect((shown["doubt"] as? [String: Any])?["cause"] as? String == "takenOver")
            #expect(try await world.ok("status", "--json").json["auditEntries"] as? Int == entries + 1)
            let again = try await world.fails(.usage, "login", "take-over", login, "--yes")
            #expect(again.error.contains("no process has begun to renew"))
            owner.send(SIGKILL)
            _ = try await owner.exitCode()
        }
    }

    @Test func withoutATerminalItIsTakenOverWithYes() async throws {
        try await World.with { world in
            let login = try await world.logIn("alice")
            let owner = try await Self.stalled(world, login)
            let result = try await world.ok("login", "take-over", "--user", "alice", "--yes", "--json")
            #expect(try result.json["inDoubt"] as? Bool == true)
            #expect(result.error.contains("warning"))
            owner.send(SIGKILL)
            _ = try await owner.exitCode()
        }
    }

    @Test func aDoubtIsToldWithItsCauseAndItsTries() async throws {
        try await World.with { world in
            let login = try await world.logIn("alice")
            world.server.faults.add(.status(502).times(20))
            try await world.fails(.provider, "login", "refresh", login)
            let shown = try await Self.show(world, login)
            #expect(shown["inDoubt"] as? Bool == true)
            let renewal = try #require(shown["renewal"] as? [String: Any])
            #expect(renewal["owner"] as? String == "nobody")
            #expect((renewal["doubt"] as? [String: Any])?["cause"] as? String == "serverError")
            let words = try await world.ok("login", "show", login)
            #expect(words.output.contains("doubt\tsince "))
            #expect(words.output.contains("the server answered with an error"))
        }
    }
}
