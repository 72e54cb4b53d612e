import ArgumentParser
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

    /// `  -q, --quiet   Print …`: the names, and whether a value follows.
    @Test func theNamesAreThoseOfTheHelp() {
        var (withValue, flags) = (Set<String>(), Set<String>())
        for line in GlobalOptions.helpMessage(includeHidden: true, columns: 10_000).split(separator: "\n") {
            guard line.hasPrefix("  -") else { continue }
            let words = line.dropFirst(2).split(separator: " ", maxSplits: 6)
            let front = words.prefix { $0.hasPrefix("-") && $0 != "-" || $0.hasPrefix("<") }
            let names = front.filter { $0.hasPrefix("-") }.map { $0.prefix { $0 != "," } }.map(String.init)
            if front.last?.hasPrefix("<") == true { withValue.formUnion(names) } else { flags.formUnion(names) }
        }
        #expect(withValue == LeadingOptions.withValue)
        #expect(flags.subtracting(["-h", "--help"]) == LeadingOptions.flags)
    }

    /// An option that is given by both of its names is given twice.
    @Test func theShortNamesAreThoseOfTheCommands() throws {
        var short: [String: String] = [:]
        for leaf in CommandTree.leaves {
            let command = try #require(CommandTree.command(leaf))
            for line in command.helpMessage(includeHidden: true, columns: 10_000).split(separator: "\n") {
                let words = line.split(separator: " ", maxSplits: 4)
                guard line.hasPrefix("  -"), words.count > 3, words[0].count == 3, words[0].last == ",",
                    words[2].hasPrefix("<")
                else { continue }
                short[String(words[0].dropLast())] = String(words[1])
            }
        }
        #expect(short == OptionNames.short)
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
