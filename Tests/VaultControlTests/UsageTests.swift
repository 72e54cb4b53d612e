import Testing

@testable import VaultControl

/// What the program says to a command line that cannot be.
struct UsageTests {
    @Test(arguments: [
        (["nonsense"], "unexpected argument"),
        (["token", "get"], "no login was named"),
        (["token", "get", "not-an-id"], "is not a login id"),
        (["token", "get", "--user", "a", "aaaaaaaaaaaaaaaaaaaaaaaaaa"], "cannot be combined"),
        (["token", "get", "--user"], "missing value"),
        (["token", "get", "--user", "a", "--min-validity", "soon"], "min-validity"),
        (["login", "begin", "--user", "a"], "--provider"),
        (["login", "complete", "--callback-url", "u", "--state", "s"], "cannot be combined"),
        (["login", "complete", "--code-file", "f"], "needs its --state"),
        (["login", "add", "--user", "a"], "no token was given"),
        (["token", "update", "--user", "a"], "no access token was given"),
        (["provider", "add", "acme", "--client-id", "x"], "endpoints are not known"),
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
        #expect(result.error.contains("takes no secret on the command line"))
    }

    @Test(arguments: [
        ["token", "update", "--user", "a", "CANARY-value-that-was-meant-as-a-token", "x"],
        ["status", "CANARY-value-that-was-meant-as-a-token"],
    ])
    func strayArgumentsThatMayBeSecretsAreNotQuoted(_ arguments: [String]) async throws {
        let result = try await Harness().run(arguments)
        #expect(result.status == 1)
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
        #expect(result.error.contains("no vault was named"))
    }

    @Test func aKeyMustBeNamedWhereNobodyCanBeAsked() async throws {
        let harness = try Harness()
        try await harness.run("init")
        let result = try await harness.run("status", environment: ["TOKENVAULT_VAULT": harness.vault])
        #expect(result.status == 7)
        #expect(result.error.contains("no key was named"))
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
        for arguments in [["--help"], ["help", "login", "begin"], ["login"], ["token", "get", "-h"]] {
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
        ("90", 90), ("90s", 90), ("15m", 900), ("2h", 7_200), ("30d", 2_592_000), ("0", 0),
    ])
    func lengthsOfTimeAreRead(_ text: String, _ seconds: Int64) {
        #expect(TimeSpan(argument: text)?.duration == .seconds(seconds))
    }

    @Test(arguments: ["", "s", "-1", "1.5h", "1w", "99999999999999999999", "9223372036854775807d", "1 h", "٣"])
    func whatIsNoLengthOfTimeIsRefused(_ text: String) {
        #expect(TimeSpan(argument: text) == nil)
    }
}
