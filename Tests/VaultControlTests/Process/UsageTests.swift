import Testing

@testable import VaultControl

/// What the program says to a command line that cannot be.
struct UsageTests {
    @Test(arguments: [
        (["nonsense"], "vaultctl has no command 'nonsense'"),
        (["token", "get"], "no login specified"),
        (["token", "get", "not-an-id"], "is not a login id"),
        (["token", "get", "--user", "a", "aaaaaaaaaaaaaaaaaaaaaaaaaa"], "cannot be combined"),
        (["token", "get", "--user"], "missing value"),
        (["token", "get", "--user", "a", "--min-validity", "soon"], "min-validity"),
        (["login", "begin", "--user", "a"], "--provider"),
        (["login", "complete", "--callback-url", "u", "--state", "s"], "cannot be combined"),
        (["login", "complete", "--code-file", "f"], "needs its --state"),
        (["login", "add", "--user", "a"], "no token was given"),
        (["token", "update", "--user", "a"], "no access token was given"),
        (["provider", "add", "acme", "--client-id", "x"], "endpoints are unknown"),
        (["provider", "add", "acme", "--client-id", "x", "--issuer", "u", "--dpop", "often"], "often"),
        (["status", "--frobnicate"], "unknown option"),
        (["token", "update", "--user", "a", "--access-token", "-", "--access-token-file", "f"], "cannot be combined"),
    ])
    func impossibleCommandLinesAreRefusedWithExitCodeOne(_ arguments: [String], _ message: String) async throws {
        let result = try await Harness().run(arguments)
        #expect(result.status == 1)
        #expect(result.output.isEmpty)
        #expect(result.error.hasPrefix("vaultctl: error: "))
        #expect(result.error.lowercased().contains(message), "\(result.error)")
        #expect(result.error.contains("hint: "))
    }

    /// In one line, with a hint that leads on from there.
    @Test(arguments: [
        (["--json"], "no command specified", "vaultctl --help lists all commands"),
        (["login", "--json"], "a command is missing after vaultctl login", "its commands are: "),
        (["--quiet", "stats"], "vaultctl has no command 'stats'", "did you mean: vaultctl status"),
        (
            ["login", "--json", "lst"], "vaultctl login has no command 'lst'",
            "vaultctl login --help lists all commands"
        ),
        (
            ["login", "list", "--state", "gone"], "one of the following: established, inDoubt, ",
            "login list --help"
        ),
        (["login", "list", "--expires-before", "1q"], "'1q' is invalid", "or a date such as 2026-11-25"),
        (["login", "list", "--limit", "0"], "--limit must be 1 or more", "vaultctl login list --help"),
        (["status", "--brief", "--provider", "acme"], "cannot be combined", "vaultctl status --help"),
        (["login", "lst"], "vaultctl login has no command 'lst'", "did you mean: vaultctl login list"),
        (["status", "--what"], "unknown option '--what'", "usage: vaultctl status <options>"),
        (["status", "--what"], "unknown option '--what'", "vaultctl status --help lists all options"),
        (["events", "-n", "-1"], "the value '-1' is invalid for '-n <number>'", "usage: vaultctl events"),
        (["login", "add", "--user", "a", "--expires-in", "1q"], "'1q' is invalid", "such as 90s, 15m, 2h, 30d or 1w"),
        (["status", "--passphrase-memory-limit", "3"], "'3' is invalid", "use a size such as 512M or 2G"),
        (
            ["provider", "update", "a", "--remove", "x"],
            "one of the following: issuer, authorization-endpoint, ", "vaultctl provider update --help"
        ),
        (["--generate-completion-script", "tcsh"], "with one of: zsh bash fish", "vaultctl --help"),
    ])
    func whatIsWrongIsSaidOnOneLine(_ arguments: [String], _ message: String, _ hint: String) async throws {
        let result = try await Harness().run(arguments)
        #expect(result.status == 1)
        let lines = result.error.split(separator: "\n")
        #expect(lines.first?.contains(message) == true, "\(result.error)")
        #expect(lines.dropFirst().contains { $0.hasPrefix("hint: ") && $0.contains(hint) }, "\(result.error)")
        #expect(!result.error.contains("\\n"), "\(result.error)")
        #expect(lines.dropFirst().allSatisfy { $0.hasPrefix("hint: ") || $0.hasPrefix("{") }, "\(result.error)")
    }

    @Test func aPassphraseFileIsToldByItsPathAndTheReason() async throws {
        let harness = try Harness()
        try await harness.run("init")
        let missing = try await harness.run("status", "--passphrase-file", harness.path("none"))
        #expect(missing.status == 7)
        #expect(missing.error.contains("there is no passphrase file at \(harness.path("none")) (--passphrase-file)"))
        #expect(missing.error.contains("hint: check --passphrase-file"))
        let directory = try await harness.run("status", "--passphrase-file", harness.directory)
        #expect(directory.status == 7)
        #expect(
            directory.error.contains("\(harness.directory) (--passphrase-file) is a directory"), "\(directory.error)")
        let token = try await harness.run("login", "add", "--user", "a", "--access-token-file", harness.path("none"))
        #expect(token.status == 2)
    }

    @Test func whatIsNoIDOfAKeySlotIsUsage() async throws {
        let harness = try Harness()
        try await harness.run("init")
        let malformed = try await harness.run("key", "remove", "xx", "--yes")
        #expect(malformed.status == 1)
        #expect(malformed.error.contains("xx is not a key slot id"))
        let unknown = try await harness.run("key", "remove", "aaaaaaaaaaaaaaaaaaaaaaaaaa", "--yes")
        #expect(unknown.status == 2)
    }

    @Test(arguments: [
        ["token", "update", "--user", "a", "--access-token", "CANARY-value"],
        ["token", "update", "--user", "a", "--access-token=CANARY-value"],
        ["login", "add", "--user", "a", "--refresh-token", "CANARY-value"],
        ["provider", "add", "p", "--client-id", "c", "--client-secret=CANARY-value"],
        ["login", "complete", "--state", "s", "--code", "CANARY-value"],
        ["status", "--passphrase", "CANARY-value"],
        ["status", "--password", "CANARY-value"],
        ["key", "add", "--new-passphrase", "CANARY-value"],
        ["token", "get", "--token", "CANARY-value"],
    ])
    func secretsOnTheCommandLineAreRefusedAndNotRepeated(_ arguments: [String]) async throws {
        let result = try await Harness().run(arguments)
        #expect(result.status == 1)
        #expect(result.error.contains("does not accept a secret on the command line"))
    }

    @Test(arguments: [
        ["token", "update", "--user", "a", "CANARY-value-that-was-meant-as-a-token", "x"],
        ["token", "update", "aaaa", "CANARY-value-that-was-meant-as-a-token"],
        ["login", "update", "aaaa", "CANARY-value-that-was-meant-as-a-label"],
        ["status", "CANARY-value-that-was-meant-as-a-token"],
    ])
    func strayArgumentsThatMayBeSecretsAreNotQuoted(_ arguments: [String]) async throws {
        let result = try await Harness().run(arguments)
        #expect(result.status == 1)
    }

    /// The second reader would get what the first has left of them.
    @Test(arguments: [
        (
            ["login", "add", "--user", "a", "--access-token", "-", "--refresh-token=-"], "standard input",
            "--refresh-token"
        ),
        (["login", "complete", "--passphrase", "-", "--callback-url", "-"], "standard input", "--callback-url"),
        (
            ["login", "add", "--user", "a", "--key", "-", "--access-token-file", "/dev/stdin"], "standard input",
            "--key"
        ),
        (
            ["login", "add", "--user", "a", "--access-token-fd", "3", "--refresh-token-file", "/dev/fd/3"],
            "descriptor 3", "--access-token-fd"
        ),
    ])
    func oneStreamGivesOneSecret(_ arguments: [String], _ stream: String, _ option: String) async throws {
        let result = try await Harness().run(arguments, input: "CANARY-one\nCANARY-two\n")
        #expect(result.status == 1)
        #expect(result.error.contains("only one secret can be read from \(stream): "), "\(result.error)")
        #expect(result.error.contains(option))
        #expect(result.error.contains("hint: use a file"))
    }

    @Test func aSecretInTheEnvironmentIsRefused() async throws {
        let harness = try Harness()
        var environment = harness.environment
        environment["TOKENVAULT_PASSPHRASE"] = "CANARY-passphrase"
        let result = try await harness.run("status", environment: environment)
        #expect(result.status == 1)
        #expect(result.error.contains("TOKENVAULT_PASSPHRASE is set"))
    }

    @Test func aVaultMustBeNamed() async throws {
        let result = try await Harness().run("status", environment: [:])
        #expect(result.status == 1)
        #expect(result.error.contains("no vault specified"))
    }

    @Test func aKeyMustBeNamedWhereNobodyCanBeAsked() async throws {
        let harness = try Harness()
        try await harness.run("init")
        let result = try await harness.run("status", environment: ["TOKENVAULT_VAULT": harness.vault])
        #expect(result.status == 7)
        #expect(result.error.contains("no key specified"))
    }

    @Test func withJSONAFailureIsADocumentToo() async throws {
        let result = try await Harness().run("token", "get", "--json")
        let error = try #require(result.json["error"] as? [String: Any])
        #expect(error["code"] as? String == "usage")
        #expect(error["exitCode"] as? Int == 1)
        #expect((error["hints"] as? [String])?.isEmpty == false)
    }

    @Test func helpAndVersionAndCompletionAreNoErrors() async throws {
        let harness = try Harness()
        for arguments in [["--help"], ["help", "login", "begin"], ["login", "--help"], ["token", "get", "-h"]] {
            let result = try await harness.run(arguments)
            #expect(result.status == 0, "\(arguments)")
            #expect(result.output.contains("USAGE: vaultctl"))
            #expect(result.error.isEmpty)
        }
        #expect(try await harness.run("--version").output.contains("."))
        for shell in ["bash", "zsh", "fish"] {
            let script = try await harness.run("--generate-completion-script", shell)
            #expect(script.status == 0)
            #expect(script.output.contains("vaultctl"))
        }
    }

    @Test(arguments: [
        ("90s", 90), ("15m", 900), ("2h", 7_200), ("30d", 2_592_000), ("0", 0), ("1w", 604_800), ("2mo", 5_184_000),
        ("1y", 31_536_000), ("1h30m", 5_400),
    ])
    func lengthsOfTimeAreRead(_ text: String, _ seconds: Int64) {
        #expect(TimeSpan(argument: text)?.duration == .seconds(seconds))
    }

    @Test(arguments: [
        "", "s", "-1", "90", "00", "30m1h", "1h1h", "1.5h", "2H", "99999999999999999999", "9223372036854775807d", "1 h",
        "٣",
    ])
    func whatIsNoLengthOfTimeIsRefused(_ text: String) {
        #expect(TimeSpan(argument: text) == nil)
    }

    @Test func helpHasTheCommandsOwnOptions() async throws {
        for arguments in [["login", "list", "--help"], ["help", "token", "get"], ["status", "-h"]] {
            let text = try await Harness().run(arguments).output
            let own = try #require(text.firstRange(of: "\nOPTIONS:\n"), "\(text)")
            #expect(text[own.upperBound...].contains("--help"))
            #expect(!text.contains("--vault <path>  "), "\(text)")
            #expect(text.hasSuffix("vaultctl help options\n") && !text.contains("\n\n\n"), "\(text)")
        }
        let common = try await Harness().run("help", "options").output
        #expect(common.hasPrefix("OPTIONS OF ALL COMMANDS:\n") && common.contains("--vault <path>"), "\(common)")
        #expect(common.contains("--verbose") && !common.contains("--version"), "\(common)")
    }

    @Test(arguments: [(["help", "nothing"], "vaultctl"), (["help", "login", "nothing"], "vaultctl login")])
    func helpForAnUnknownCommandIsAUsageError(_ arguments: [String], _ command: String) async throws {
        let result = try await Harness().run(arguments)
        #expect(result.status == 1)
        #expect(result.output.isEmpty)
        #expect(result.error.hasPrefix("vaultctl: error: \(command) has no command 'nothing'\n"))
        #expect(result.error.hasSuffix("hint: \(command) --help lists all commands\n"))
    }

    @Test(arguments: [["help"], ["help", "login"], ["help", "login", "begin"], ["help", "status"]])
    func helpForAKnownCommandIsPrinted(_ arguments: [String]) async throws {
        let result = try await Harness().run(arguments)
        #expect(result.status == 0)
        #expect(result.output.contains("USAGE: " + (["vaultctl"] + arguments.dropFirst()).joined(separator: " ")))
        #expect(result.error.isEmpty)
    }

    @Test(arguments: [
        ["provider", "add", "acme", "--client-id", "x", "--profile-file"],
        ["provider", "add", "acme", "--client-id", "x", "--issuer", "https://acme.example", "--ca-file"],
        ["login", "add", "--user", "alice", "--access-token-file"],
    ])
    func aFileThatDoesNotExistIsNotFound(_ arguments: [String]) async throws {
        let harness = try Harness()
        try await harness.run("init")
        let path = harness.path("nowhere")
        let result = try await harness.run(arguments + [path])
        #expect(result.status == 2, "\(result.error)")
        #expect(result.error.contains(path))
    }
}
