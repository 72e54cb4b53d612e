import DevAuthorizationServer
import EngineSupport
import Foundation
import Testing
import VaultControl

/// A person at a terminal.
struct PromptTests {
    @Test func aNewPassphraseIsAskedTwiceWithoutEcho() async throws {
        let harness = try Harness()
        let environment = harness.withPlaces(["TERM": "dumb"])
        let making = try PseudoTerminal(["init"], environment: environment)
        try await making.wait(for: "New passphrase: ")
        #expect(!making.echoes)
        making.type("CANARY-pass\n")
        try await making.wait(for: "Repeat the new passphrase: ")
        making.type("CANARY-pass\n")
        #expect(try await making.exitCode() == 0, "\(making.screen)")
        #expect(making.echoes)
        #expect(!making.screen.contains("CANARY"))

        let opening = try PseudoTerminal(["status"], environment: environment)
        try await opening.wait(for: "Passphrase: ")
        opening.type("CANARY-pass\r")
        #expect(try await opening.exitCode() == 0, "\(opening.screen)")
        #expect(!opening.screen.contains("CANARY"))
    }

    @Test func passphrasesThatDifferMakeNoVault() async throws {
        let harness = try Harness()
        let terminal = try PseudoTerminal(["init"], environment: harness.withPlaces([:]))
        try await terminal.wait(for: "New passphrase: ")
        terminal.type("CANARY-one\n")
        try await terminal.wait(for: "Repeat the new passphrase: ")
        terminal.type("CANARY-two\n")
        #expect(try await terminal.exitCode() == 1)
        #expect(try await harness.run("init").status == 0, "there is no vault yet")
    }

    @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
    func aSignalAtThePromptBringsTheEchoBack(_ signal: Int32) async throws {
        let harness = try await BadInputTests.filled()
        let terminal = try PseudoTerminal(["token", "update", "--user", "alice"], environment: harness.environment)
        try await terminal.wait(for: "Access token: ")
        #expect(!terminal.echoes)
        terminal.send(signal)
        #expect(try await terminal.exitCode() == 128 + signal)
        #expect(terminal.echoes)
    }

    @Test(arguments: ["tok en", "{\"access_token\":\"CANARY-x\"}", "Bearer CANARY-x", "https://app.example/?code=x"])
    func aTypedTokenIsCheckedLikeAFile(_ typed: String) async throws {
        let harness = try await BadInputTests.filled()
        let terminal = try PseudoTerminal(["login", "add", "--user", "tty"], environment: harness.environment)
        try await terminal.wait(for: "Access token: ")
        terminal.type(typed + "\n")
        #expect(try await terminal.exitCode() == 1)
        #expect(terminal.screen.contains("the access token "), "\(terminal.screen)")
        #expect(!terminal.screen.contains("CANARY"))
    }

    @Test func aShortPassphraseIsRefusedAtOnce() async throws {
        let harness = try Harness()
        let terminal = try PseudoTerminal(["init"], environment: harness.withPlaces([:]))
        try await terminal.wait(for: "New passphrase: ")
        terminal.type("1234567\n")
        #expect(try await terminal.exitCode() == 1)
        #expect(terminal.screen.contains("the new passphrase is shorter than 8 characters"))
        #expect(!terminal.screen.contains("Repeat"))
        for command in [["init", "--passphrase", "-"], ["key", "add", "--new-passphrase", "-"]] {
            if command[0] == "key" { try await harness.run("init") }
            let result = try await harness.run(command, input: "sieben7")
            #expect(result.status == 1)
            #expect(result.error.contains("shorter than 8 characters"), "\(result.error)")
        }
    }

    @Test(arguments: [["init", "--passphrase", "-"], ["key", "add", "--new-passphrase", "-"]])
    func aNewPassphraseIsTypedTwice(_ command: [String]) async throws {
        let harness = try Harness()
        if command[0] == "key" { try await harness.run("init") }
        let environment = command[0] == "key" ? harness.environment : harness.withPlaces([:])
        let terminal = try PseudoTerminal(command, environment: environment)
        try await terminal.wait(for: "New passphrase: ")
        terminal.type("correct horse\n")
        try await terminal.wait(for: "Repeat the new passphrase: ")
        terminal.type("correct house\n")
        #expect(try await terminal.exitCode() == 1)
        #expect(terminal.screen.contains("the passphrases do not match"))
    }

    /// The prompt is far above, after Ctrl-Z and fg.
    @Test func aProgramThatWasStoppedAsksAgain() async throws {
        let harness = try await BadInputTests.filled()
        let terminal = try PseudoTerminal(["token", "update", "--user", "alice"], environment: harness.environment)
        try await terminal.wait(for: "Access token: ")
        terminal.send(SIGSTOP)
        terminal.send(SIGCONT)
        try await terminal.wait(for: "Access token: ", times: 2)
        #expect(!terminal.echoes)
        terminal.type("CANARY-typed\n")
        #expect(try await terminal.exitCode() == 0, "\(terminal.screen)")
    }

    @Test func disablingAUserSaysWhatIsLost() async throws {
        let harness = try await BadInputTests.filled()
        let terminal = try PseudoTerminal(["user", "disable", "alice"], environment: harness.environment)
        try await terminal.wait(
            for:
                "Disable user alice and end 1 login, which enabling the user does not bring back? This cannot be undone. "
        )
        terminal.type("n\n")
        #expect(try await terminal.exitCode() == 1)
    }

    @Test func aTokenIsTypedWithoutEcho() async throws {
        let harness = try await BadInputTests.filled()
        let terminal = try PseudoTerminal(
            ["token", "update", "--user", "alice", "--expires-in", "1h"], environment: harness.environment)
        try await terminal.wait(for: "Access token: ")
        terminal.type("CANARY-typed\n")
        #expect(try await terminal.exitCode() == 0, "\(terminal.screen)")
        #expect(!terminal.screen.contains("CANARY"))
        let token = try await harness.run("token", "get", "--user", "alice", "--reveal", revealing: true)
        #expect(token.line == "CANARY-typed")
    }

    @Test func anInterruptLetsARenewalThatWasSentFinish() async throws {
        try await World.with { world in
            let login = try await world.logIn("alice")
            world.server.faults.add(.delay(.seconds(86_400), afterActing: true))
            let terminal = try PseudoTerminal(["login", "refresh", login], environment: world.harness.environment)
            while world.server.log.tokenRequests().isEmpty {
                try await Task.sleep(for: .milliseconds(10))
            }
            terminal.send(SIGINT)
            try await terminal.wait(for: "again to stop at once")
            world.server.faults.endDelays()
            #expect(try await terminal.exitCode() == 130, "\(terminal.screen)")
            let shown = try await world.ok("login", "show", login, "--json").json
            #expect(shown["generation"] as? Int == 2)
            #expect(shown["inDoubt"] as? Bool == false)
            try await world.ok("login", "refresh", login)
        }
    }

    private static let done = World.statusOfErasure.rawValue

    @Test(arguments: [("y\n", done), ("yes\n", done), ("n\n", 1), ("\n", 1), ("\u{4}", 1)])
    func destructionIsAskedFor(_ answer: String, _ status: Int32) async throws {
        let harness = try await BadInputTests.filled()
        let terminal = try PseudoTerminal(["user", "erase", "alice"], environment: harness.environment)
        try await terminal.wait(for: "Erase user alice and 1 login? This cannot be undone. [y/N] ")
        terminal.type(answer)
        #expect(try await terminal.exitCode() == status, "\(terminal.screen)")
        #expect(try await harness.run("user", "show", "alice").status == (status == Self.done ? 2 : 0))
    }

    @Test func aTerminalGetsTablesColourAndHintsUnlessItIsDumb() async throws {
        let harness = try await BadInputTests.filled()
        for (extra, isColoured) in [
            (["TERM": "xterm"], true), (["TERM": "dumb"], false), (["TERM": "xterm", "NO_COLOR": "1"], false),
        ] {
            let terminal = try PseudoTerminal(
                ["login", "list"], environment: harness.environment.merging(extra) { $1 })
            #expect(try await terminal.exitCode() == 0)
            #expect(terminal.screen.contains("EXPIRES") && !terminal.screen.contains("PROVIDER"))
            #expect(terminal.screen.contains("\u{1B}[") == isColoured)
        }
    }
}
