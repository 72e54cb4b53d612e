import DevAuthorizationServer
import Testing

@testable import VaultControl

struct UserCommandTests {
    @Test func aUserToComeIsNotDisabledButErased() async throws {
        try await World.with { world in
            let url = try await world.ok("login", "begin", "--user", "eve", "--provider", "acme").line
            let refused = try await world.fails(.notFound, "user", "disable", "eve", "--yes")
            #expect(refused.error.contains("no user eve yet, and 1 pending log-in of theirs"), "\(refused.error)")
            #expect(refused.error.contains("vaultctl user erase eve"))
            try await world.ok("user", "erase", "eve", "--yes")
            let callback = try await Browser.visit(url)
            let late = try await world.harness.run("login", "complete", "--callback-url", "-", input: callback)
            #expect(late.status == ExitStatus.notFound.rawValue)
        }
    }

    @Test func usersAreListedShownDisabledEnabledAndErased() async throws {
        try await World.with { world in
            try await world.logIn("alice")
            try await world.logIn("alice")
            try await world.logIn("bob")
            let users = try await world.ok("user", "list", "--json").json["users"] as? [[String: Any]]
            #expect(Set(users?.compactMap { $0["id"] as? String } ?? []) == ["alice", "bob"])
            #expect(try await world.ok("user", "list").output.split(separator: "\n").count == 2)
            let shown = try await world.ok("user", "show", "alice", "--json").json
            #expect((shown["logins"] as? [Any])?.count == 2)

            try await world.fails(.usage, "user", "disable", "alice")
            try await world.ok("user", "disable", "alice", "--yes")
            #expect(try await world.ok("user", "show", "alice").output.contains("status\tdisabled"))
            let refused = try await world.harness.run("token", "get", "--user", "alice")
            #expect([2, 8].contains(refused.status), "\(refused.error)")
            #expect(!world.server.grants.filter { $0.user == "alice" }.contains { !$0.isRevoked })

            try await world.ok("user", "enable", "alice")
            try await world.logIn("alice")
            try await world.ok("token", "get", "--user", "alice")

            try await world.erase("alice")
            try await world.fails(.notFound, "user", "show", "alice")
            try await world.ok("token", "get", "--user", "bob")
            try await world.ok("verify")
        }
    }

    @Test(arguments: [
        "new\nline", "\u{1B}[31mred\u{1B}[0m", "\u{202E}reversed", "--help", "-x", "*", "a b", "'; DROP TABLE user;--",
        "żółć", "a\u{0301}", "x\u{0}y", String(repeating: "k", count: 512),
    ])
    func oddUserIdsAreKeptExactlyAndPrintedSafely(_ id: String) async throws {
        try await World.with { world in
            let file = try world.harness.file("token", Harness.marker + "token")
            let added = try await world.harness.run(
                "login", "add", "--user=\(id)", "--access-token-file", file, "--expires-in", "1h")
            guard added.status == 0 else {
                // Refusing is fine as long as it is said.
                #expect(added.status == 1)
                #expect(added.error.contains("hint") || added.error.contains("user"))
                return
            }
            let listed = try await world.ok("user", "list", "--json").json["users"] as? [[String: Any]]
            #expect(listed?.first?["id"] as? String == id)
            let text = try await world.ok("user", "list")
            #expect(text.output.split(separator: "\n").count == 1)
            #expect(text.output.hasPrefix(Printable.escape(id) + "\t"))
            try await world.ok("token", "get", "--user=\(id)")
            try await world.ok("user", "show", "--", id)
            try await world.erase(id)
        }
    }

    @Test func noLogInBeginsForADisabledUser() async throws {
        try await World.with { world in
            _ = try await world.logIn("alice")
            try await world.ok("user", "disable", "alice", "--yes")
            let refused = try await world.fails(
                .loginDead, "login", "begin", "--user", "alice", "--provider", "acme")
            #expect(refused.output.isEmpty)
            #expect(
                refused.error.contains("error: the user is disabled\nhint: enable the user: vaultctl user enable alice")
            )
            try await world.fails(
                .loginDead, "login", "open", "--user", "alice", "--provider", "acme", "--no-browser")
            try await world.ok("user", "enable", "alice")
            try await world.ok("login", "begin", "--user", "alice", "--provider", "acme")
        }
    }

    @Test func aUserIdOfAMegabyteIsRefused() async throws {
        let harness = try Harness()
        try await harness.run("init")
        let file = try harness.file("token", Harness.marker + "token")
        let id = String(repeating: "u", count: 1 << 20)
        let result = try await harness.run("login", "add", "--user", id, "--access-token-file", file)
        #expect(result.status == 1)
        #expect(result.error.utf8.count < 1_000)
        #expect(try await harness.run("user", "show", id).status == 1)
        #expect(try await harness.run("user", "list").output.isEmpty)
    }
}
