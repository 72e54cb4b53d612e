import Testing

@testable import VaultControl

/// What is meant by words and options that do not exist.
struct SuggestionTests {
    @Test(arguments: [
        ("list logins", "login list"), ("show login", "login show"), ("login-list", "login list"),
        ("key_list", "key list"), ("LOGIN LIST", "login list"), ("Login List", "login list"),
        ("logins list", "login list"), ("backup make", "backup create"), ("backup rm x", "backup forget"),
        ("user delete alice", "user erase"), ("delete user alice", "user erase"), ("key ls", "key list"),
        ("rm key SLOT", "key remove"), ("provider create x", "provider add"), ("stats", "status"), ("ls", "login list"),
        ("restore app.tvbackup", "backup restore app.tvbackup TARGET"), ("backup /mnt/b", "backup create /mnt/b"),
        ("import db.sqlite3", "import run db.sqlite3"), ("move b.vault", "move run b.vault"), ("rekey", "key rekey"),
        ("rotate key", "key rotate"), ("sessions list", "login list"), ("login logout x", "login revoke"),
        ("provider edit acme", "provider update"), ("create", "init"), ("check", "doctor"), ("daemon", "maintain"),
        ("initialise", "init"), ("Authorise", "login begin"),
        ("users", "user list"), ("user create bob", "login begin --user ID --provider NAME"),
        ("token show", "token get"),
        ("audit.list", "audit list"), ("takeover login", "login take-over"), ("migrate apply", "migrate up"),
        ("login refesh", "login refresh"), ("profile list", "provider profiles"),
        ("profiles google", "provider profiles google"), ("provider profile list", "provider profiles"),
        ("list profiles", "provider profiles"), ("provider profiles convrt", "provider profiles convert"),
        ("convert", "provider profiles convert"), ("registration show acme", "provider registration show"),
        ("config", ""), ("frobnicate", ""), ("login frobnicate", ""), ("help", ""),
    ])
    func theCommandThatIsMeantIsFound(_ typed: String, _ meant: String) {
        let found = CommandSuggestions(typed.split(separator: " ").map(String.init)).all
        #expect(meant.isEmpty ? found.isEmpty : found.contains(meant), "\(typed): \(found)")
    }

    @Test(arguments: [
        (["status", "--va", "x"], "--vault"), (["status", "--vlt", "x"], "--vault"),
        (["status", "-vault", "x"], "--vault"),
        (["status", "--keyfile", "x"], "--key-file"), (["status", "--key_file", "x"], "--key-file"),
        (["status", "--db", "x"], "--vault"), (["login", "list", "--format", "json"], "--json"),
        (["login", "list", "--states", "x"], "--state"), (["login", "list", "--username", "x"], "--user"),
        (["audit", "list", "--from", "2h"], "--since"), (["audit", "list", "--tail", "3"], "--last"),
        (["user", "erase", "a", "--force"], "--yes"), (["user", "erase", "a", "--dryrun"], "--dry-run"),
        (["login", "list", "-json"], "--json"), (["status", "--quite"], "--quiet"),
        (["status", "--VAULT", "x"], "--vault"),
    ])
    func theOptionThatIsMeantIsFound(_ arguments: [String], _ meant: String) async throws {
        let result = try await Harness().run(arguments)
        #expect(result.status == 1)
        let typed = arguments.first { $0.hasPrefix("-") && $0 != "--yes" } ?? ""
        #expect(
            result.error.hasPrefix("vaultctl: error: unknown option '\(typed)'. Did you mean '\(meant)'?\n"),
            "\(result.error)")
    }

    @Test(arguments: [["status", "--frobnicate"], ["status", "-z"], ["login", "list", "--xyzzy"]])
    func nothingIsSuggestedForWhatIsLikeNothing(_ arguments: [String]) async throws {
        let result = try await Harness().run(arguments)
        #expect(!result.error.contains("Did you mean"), "\(result.error)")
    }

    @Test func helpComesLastToo() async throws {
        let harness = try Harness()
        let help = try await harness.run("login", "help")
        #expect(help.status == 0 && help.output.contains("USAGE: vaultctl login"))
        let leaf = try await harness.run("login", "list", "help")
        #expect(
            leaf.status == 1 && leaf.error.contains("hint: did you mean: vaultctl login list --help"), "\(leaf.error)")
    }
}
