import DevAuthorizationServer
import Foundation
import Testing
import VaultControl

/// One login through all its lives, on the command line.
struct LoginLifeTests {
    private static func add(_ world: World, _ user: String, _ options: String...) async throws -> String {
        let token = try world.harness.file("token", Harness.marker + "token")
        return try await world.ok(
            ["login", "add", "--user", user, "--access-token-file", token, "--expires-in", "1h"] + options
        ).line
    }

    private static func ids(_ world: World, _ options: String...) async throws -> Set<String> {
        let result = try await world.ok(["login", "list", "--json"] + options)
        let logins = try #require(try result.json["logins"] as? [[String: Any]])
        return Set(logins.compactMap { $0["id"] as? String })
    }

    @Test func aUserLogsInAgainIntoTheSameLogin() async throws {
        try await World.with { world in
            let login = try await world.logIn("alice", "--label", "work")
            world.server.revokeGrant(user: "alice")
            try await world.fails(.loginDead, "login", "refresh", login)
            // Good for a while yet, and nothing comes after it.
            let last = try await world.ok("token", "get", login)
            #expect(last.error.contains("this token is the login's last"), "\(last.error)")
            let url = try await world.ok("login", "begin", "--into", login, "--login-hint", "alice").line
            let callback = try await Browser.visit(url)
            #expect(try await world.complete(callback).line == login)
            let shown = try await world.ok("login", "show", login, "--json").json
            #expect(shown["label"] as? String == "work")
            #expect(shown["failure"] is NSNull)
            #expect(try await Self.ids(world) == [login])
            try await world.ok("login", "refresh", login)
            // Once more while it lives: the old grant is revoked before the command ends.
            let second = try await world.ok("login", "begin", "--into", login, "--login-hint", "alice").line
            try await world.complete(Browser.visit(second))
            #expect(try await world.ok("status", "--brief", "--json").json["pendingRevocations"] as? Int == 0)
            #expect(try await world.ok("audit", "list", "--json").output.contains("revocationConfirmed"))
        }
    }

    @Test func aLoginIsDescribedAndFoundByIt() async throws {
        try await World.with { world in
            let (one, two) = (try await Self.add(world, "alice"), try await Self.add(world, "bob", "--label", "work 1"))
            let updated = try await world.ok(
                "login", "update", one, "--label", "private", "--set", "team=42", "--set", "url=a=b", "--json"
            ).json
            #expect(updated["label"] as? String == "private")
            #expect(updated["metadata"] as? [String: String] == ["team": "42", "url": "a=b"])
            #expect(try await Self.ids(world, "--metadata", "team=42") == [one])
            #expect(try await Self.ids(world, "--label-prefix", "work") == [two])
            try await world.ok("login", "update", "--user", "alice", "--no-label", "--unset", "team")
            let shown = try await world.ok("login", "show", one, "--json").json
            #expect(shown["label"] is NSNull)
            #expect(shown["metadata"] as? [String: String] == ["url": "a=b"])
            let counts = try await world.ok("login", "list", "--count", "--json").json
            #expect(counts["logins"] as? Int == 2)
            #expect(counts["established"] as? Int == 2)
            #expect(counts["withoutProvider"] as? Int == 2)
            for wrong in [["--set", "team"], ["--set", "=x"], ["--set", "a=b", "--unset", "a"]] {
                try await world.fails(.usage, ["login", "update", one] + wrong)
            }
        }
    }

    @Test func manyLoginsEndAtOnce() async throws {
        try await World.with { world in
            let logins = [try await world.logIn("alice"), try await world.logIn("bob")]
            let other = try await Self.add(world, "carol")
            #expect(
                try await world.ok("login", "end", "--provider", "acme", "--dry-run", "--json").json["logins"] as? Int
                    == 2)
            try await world.fails(.usage, "login", "end", "--provider", "acme")
            try await world.fails(.usage, "login", "end", "--yes")
            let ended = try await world.ok(
                "login", "end", "--user", "alice", "--by", "terminate", "--reason", "globalBan", "--yes", "--json"
            ).json
            #expect(ended["ended"] as? Int == 1)
            #expect(ended["settled"] as? Int == 1)
            #expect(try await Self.ids(world, "--state", "terminated") == [logins[0]])
            #expect(
                try await world.ok("login", "end", "--provider", "acme", "--yes", "--json").json["ended"] as? Int == 2)
            #expect(try await Self.ids(world) == [other])
        }
    }

    @Test func aLoginEndsWithAReason() async throws {
        try await World.with { world in
            let login = try await world.logIn("alice")
            try await world.ok("login", "terminate", login, "--reason", "unauthorized", "--yes")
            #expect(try await Self.ids(world, "--state", "terminated") == [login])
            let shown = try await world.ok("login", "show", login, "--json").json
            #expect(shown["terminationReason"] as? String == "unauthorized")
            try await world.fails(.loginDead, "login", "terminate", login, "--reason", "unauthorized", "--yes")
            try await world.fails(.usage, "login", "terminate", login, "--reason", "bored", "--yes")
            let refused = try await world.fails(.loginDead, "token", "get", "--user", "alice")
            #expect(refused.error.contains("was terminated as unauthorized"), "\(refused.error)")
            #expect(
                try await world.ok("events", "--json").output.contains(#""reason":"unauthorized""#))
            let removed = try await world.ok("login", "revoke", login, "--yes")
            #expect(removed.error.contains("removed the terminated login \(login)"), "\(removed.error)")
            #expect(removed.error.contains("with its reason unauthorized"))
        }
    }

    @Test func loginsThatWillBeLostAreReported() async throws {
        try await World.with { world in
            let profile = try world.harness.file(
                "own.json",
                """
                {"profile":1,"name":"own","title":"Own","source":[{"url":"https://acme.example/","read":"2026-11-23"}],
                "refresh":{"absoluteSeconds":432000}}
                """)
            try await world.ok("provider", "update", "acme", "--profile-file", profile, "--yes")
            let login = try await world.logIn("alice")
            #expect(try await world.ok("report", "--dying", "4d", "--json").json["endings"] as? [String] == [])
            let endings = try #require(
                try await world.ok("report", "--json").json["endings"] as? [[String: Any]])
            #expect(endings.map { $0["login"] as? String } == [login])
            #expect(endings.map { $0["cause"] as? String } == ["grantExpires"])
            try await world.fails(.usage, "report", "--state", "dead")
        }
    }
}
