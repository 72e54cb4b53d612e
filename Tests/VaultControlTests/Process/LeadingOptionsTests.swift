import Testing

@testable import VaultControl

/// Options of all commands may stand before the command.
struct LeadingOptionsTests {
    @Test(arguments: [
        ("--json login list", "login list --json"),
        ("--vault a.vault -q status --brief", "status --vault a.vault -q --brief"),
        ("--vault=a.vault login --json show x --user y", "login show --vault=a.vault --json x --user y"),
        ("login --verbose list", "login list --verbose"),
        ("login list --json", "login list --json"),
        ("status --vault login", "status --vault login"),
        ("--vault login status", "status --vault login"),
        ("--vault status login list", "login list --vault status"),
        ("--key-file k key add --new-key-file n", "key add --key-file k --new-key-file n"),
        ("--log-format json maintain", "maintain --log-format json"),
        ("--json --help", "--help"), ("--json help login", "help login"), ("--quiet nonsense", "nonsense"),
        ("--nonsense status", "--nonsense status"), ("--json login nonsense", "login nonsense"),
        ("login -- --json", "login -- --json"), ("", ""), ("--version", "--version"),
    ])
    func optionsGoBehindTheCommand(_ given: String, _ moved: String) throws {
        #expect(try LeadingOptions.moved(given.split(separator: " ").map(String.init)).joined(separator: " ") == moved)
    }

    /// They are read from the help: each of them, and whether a value follows.
    @Test func theNamesAreThoseOfTheHelp() {
        let names = LeadingOptions.names
        for name in ["--vault", "--key", "--key-file", "--key-fd", "--passphrase", "--ca-file", "--log-format"] {
            #expect(names[name] == true, "\(name)")
        }
        for name in ["--json", "--quiet", "-q", "--verbose", "-v", "--trust-file-system", "--allow-environment-key"] {
            #expect(names[name] == false, "\(name)")
        }
        #expect(names["--help"] == nil)
        #expect(names.keys.allSatisfy { $0.hasPrefix("-") && !$0.contains("<") && !$0.contains(",") })
    }

    @Test func theyCountLikeThoseBehindIt() async throws {
        let harness = try await BadInputTests.filled()
        let front = try await harness.run(
            ["--json", "--vault", harness.vault, "user", "list"], environment: ["TOKENVAULT_KEY_FILE": harness.key])
        #expect(front.status == 0)
        #expect(front.output == (try await harness.run("user", "list", "--json")).output)
        let failure = try await harness.run("--json", "user", "show", "nobody")
        #expect(failure.status == 2)
        #expect(try failure.json["error"] != nil)
    }
}
