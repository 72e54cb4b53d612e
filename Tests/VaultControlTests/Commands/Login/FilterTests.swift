import DevAuthorizationServer
import Foundation
import Testing
import VaultControl

/// What lists and `status` choose.
struct FilterTests {
    private static func ids(_ world: World, _ options: String...) async throws -> Set<String> {
        let result = try await world.ok(["login", "list", "--json"] + options)
        let logins = try #require(try result.json["logins"] as? [[String: Any]])
        return Set(logins.compactMap { $0["id"] as? String })
    }

    private static func add(_ world: World, _ user: String, _ options: String...) async throws -> String {
        let token = try world.harness.file("token", Harness.marker + "token")
        return try await world.ok(["login", "add", "--user", user, "--access-token-file", token] + options).line
    }

    @Test func loginsAreChosenByStateTimeAndLabel() async throws {
        try await World.with { world in
            let good = try await Self.add(world, "alice", "--expires-in", "1h", "--label", "phone")
            let late = try await Self.add(world, "alice", "--expires-in", "3d", "--label", "laptop")
            let unknown = try await Self.add(world, "bob")
            let expired = try await Self.add(world, "bob", "--expires-at", "2026-01-01T00:00:00Z")
            let ended = try await Self.add(world, "carol", "--expires-in", "1h")
            try await world.ok("user", "disable", "carol", "--yes")
            let dead = try await world.logIn("dave")
            world.server.revokeGrant(user: "dave")
            try await world.fails(.loginDead, "login", "refresh", dead)
            #expect(try await Self.ids(world, "--state", "established") == [good, late, unknown])
            #expect(try await Self.ids(world, "--state", "expired") == [expired])
            #expect(try await Self.ids(world, "--state", "dead") == [dead])
            #expect(try await Self.ids(world, "--state", "dead", "--state", "terminated") == [dead, ended])
            #expect(try await Self.ids(world, "--state", "inDoubt") == [])
            #expect(try await Self.ids(world, "--expires-before", "2h", "--state", "established") == [good])
            #expect(try await Self.ids(world, "--expires-before", "2026-06-01T00:00:00Z") == [expired])
            #expect(try await Self.ids(world, "--label", "phone") == [good])
            #expect(try await Self.ids(world, "--label", "phon") == [])
            #expect(try await Self.ids(world, "--user", "alice", "--label", "laptop") == [late])
            #expect(try await Self.ids(world, "--provider", "acme") == [dead])
            // In a pipe, the state is the word to choose by, and times are absolute.
            let lines = try await world.ok("login", "list", "--user", "bob").output.split(separator: "\n")
            #expect(lines.contains("\(expired)\tbob\t\t\texpired\t2026-01-01T00:00:00Z"), "\(lines)")
            #expect(lines.contains { $0.hasPrefix("\(unknown)\tbob\t\t\testablished") })
        }
    }

    @Test func aDayThatIsNotInTheCalendarIsRefused() async throws {
        let harness = try await BadInputTests.filled()
        let list = try await harness.run("login", "list", "--expires-before", "2026-02-30T00:00:00Z")
        #expect(list.status == 1)
        let token = try harness.file("token", Harness.marker)
        let add = try await harness.run(
            "login", "add", "--user", "a", "--access-token-file", token, "--expires-at", "2026-02-30T00:00:00Z")
        #expect(add.status == 1)
        #expect(add.error.contains("the calendar has no day 2026-02-30"))
    }

    @Test func aLimitedListSaysWhereItGoesOn() async throws {
        try await World.with { world in
            var all: [String] = []
            for index in 0..<5 { all.append(try await Self.add(world, "user-\(index)", "--expires-in", "1h")) }
            all.sort()
            var (found, next) = ([String](), nil as String?)
            repeat {
                let result = try await world.ok(
                    ["login", "list", "--json", "--limit", "2"] + (next.map { ["--after", $0] } ?? []))
                let page = try #require(try result.json["logins"] as? [[String: Any]])
                #expect(page.count <= 2)
                found += page.compactMap { $0["id"] as? String }
                next = try result.json["next"] as? String
            } while next != nil && found.count < 10
            #expect(found.sorted() == all)
            #expect(try await world.ok("login", "list", "--json").json["next"] == nil)
            let malformed = try await world.fails(.usage, "login", "list", "--after", "x")
            #expect(malformed.error.contains("is not a login id"))
        }
    }

    @Test func disabledUsersAreListed() async throws {
        let harness = try await BadInputTests.filled()
        let token = try harness.file("token", Harness.marker)
        try await harness.run("login", "add", "--user", "bob", "--access-token-file", token)
        try await harness.run("user", "disable", "bob", "--yes")
        let lines = try await harness.run("user", "list", "--disabled").output
        #expect(lines.hasPrefix("bob\tdisabled\t1\t20") && lines.hasSuffix("Z\n"), "\(lines)")
        #expect(lines.split(separator: "\n").count == 1)
    }

    @Test func statusCountsOneProvider() async throws {
        try await World.with { world in
            _ = try await Self.add(world, "alice", "--expires-in", "1h")
            try await world.logIn("bob")
            let one = try await world.ok("status", "--provider", "acme", "--json").json
            let states = try #require(one["states"] as? [[String: Any]])
            #expect(states.count == 1)
            #expect(states.first?["provider"] as? String == "acme")
            let expiries = try #require(one["expiries"] as? [[String: Any]])
            #expect(expiries.reduce(0) { $0 + ($1["logins"] as? Int ?? 0) } == 1)
            #expect((try await world.ok("status", "--json").json["states"] as? [Any])?.count == 2)
            try await world.fails(.notFound, "status", "--provider", "none")
        }
    }
}
