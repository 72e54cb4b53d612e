import DevAuthorizationServer
import Foundation
import Testing
import VaultControl

/// Log-ins where an API says, by hand.
struct ResourceLogInCommandTests {
    private static func with(_ body: (World, String) async throws -> Void) async throws {
        try await World.with({
            $0.strictness = .mcp
            $0.scopes = ["read", "write"]
        }) { world in
            // The vault knows no provider of this server.
            try await world.ok("provider", "remove", "acme", "--yes")
            try await body(world, world.server.resourceURL)
        }
    }

    /// Runs a command that waits for the browser, as often as it does, and is the browser.
    private static func run(_ world: World, _ arguments: [String], logIns: Int = 1) async throws -> String {
        var environment = world.harness.environment
        environment["TERM"] = "dumb"
        let terminal = try PseudoTerminal(arguments, environment: environment)
        for count in 0..<logIns {
            // Each waits at another port.
            try await terminal.wait(for: "paste the address", times: count + 1)
            let lines = terminal.screen.split(whereSeparator: \.isNewline).filter { $0.contains("/authorize?") }
            _ = try await Browser.visit(try await Browser.visit(String(try #require(lines.last))))
        }
        #expect(try await terminal.exitCode() == 0, "\(terminal.screen)")
        return terminal.screen
    }

    private static func open(_ options: String...) -> [String] {
        ["login", "open", "--no-browser", "--allow-insecure-loopback"] + options
    }

    @Test func anAddressIsAllThatIsNeeded() async throws {
        try await Self.with { world, resource in
            _ = try await Self.run(world, Self.open("--user", "alice", "--resource", resource))
            let request = ["request", "--user", "alice", "--allow-insecure-loopback"]
            try await world.ok(request + [resource])
            let refused = try await world.fails(.provider, request + [resource + "/write"])
            #expect(refused.error.contains("--add-scope write"))
            let logins = try await world.ok("login", "list", "--json").json["logins"] as? [[String: Any]]
            let id = try #require(logins?.first?["id"] as? String)
            _ = try await Self.run(world, Self.open("--into", id, "--add-scope", "write"))
            try await world.ok(request + [resource + "/write"])
            // To no other address of the same server.
            let elsewhere = try await world.fails(.usage, request + [world.server.base + "/dev/grants"])
            #expect(elsewhere.error.contains("only to the resource that the user has logged in for"))
            // The name of the server stands for it, and one client serves all users.
            _ = try await Self.run(world, Self.open("--user", "bob", "--resource", resource))
            let providers = try await world.ok("provider", "list", "--json").json["providers"] as? [[String: Any]]
            #expect(providers?.count == 1)
            #expect(world.server.log.records.filter { $0.path == "/register" }.count == 1)
        }
    }

    @Test func aRequestLogsInWhenItMust() async throws {
        try await Self.with { world, resource in
            let request = ["request", "--user", "alice", "--allow-insecure-loopback", "--log-in"]
            // No login; then no scope; then neither is asked for.
            _ = try await Self.run(world, request + [resource + "/write"], logIns: 2)
            try await world.ok(request + [resource + "/write"])
            try await world.ok(request + [resource])
            let logins = try await world.ok("login", "list", "--json").json["logins"] as? [[String: Any]]
            #expect(logins?.count == 1)
            // The user took the grant back: the login has no token any more, and gets one.
            _ = world.server.revokeGrant(user: "alice")
            _ = try await Self.run(world, request + [resource])
            #expect(
                (try await world.ok("login", "list", "--json").json["logins"] as? [[String: Any]])?.count == 1)
        }
    }

    @Test func whatCannotBeIsSaid() async throws {
        try await Self.with { world, resource in
            let cases: [(VaultControl.ExitStatus, [String], String)] = [
                (
                    .usage,
                    [
                        "login", "open", "--user", "a", "--resource", "https://a.example", "--resource",
                        "https://b.example",
                    ], "once"
                ),
                (
                    .usage, ["login", "open", "--user", "a", "--provider", "p", "--add-scope", "x"],
                    "--add-scope needs --into"
                ),
                (
                    .usage, ["login", "open", "--into", "k7um", "--scope", "a", "--add-scope", "b"],
                    "cannot be combined"
                ),
                (.usage, ["login", "open", "--user", "a", "--resource", resource], "https"),
                (.usage, ["login", "device", "--user", "a", "--resource", resource], "needs a browser log-in"),
                (.usage, ["request", resource, "--log-in"], "--log-in needs --user"),
            ]
            for (status, arguments, text) in cases {
                let result = try await world.fails(status, arguments)
                #expect(result.error.contains(text), "\(arguments): \(result.error)")
            }
            // An address that is no such resource.
            let none = try await world.fails(
                .usage, Self.open("--user", "a", "--resource", world.server.base + "/nothing"))
            #expect(none.error.contains("does not say where to log in"))
            world.server.protectedResource?.hostility = [.noPKCE]
            let weak = try await world.fails(.provider, Self.open("--user", "a", "--resource", resource))
            #expect(weak.error.contains("PKCE"))
        }
    }
}
