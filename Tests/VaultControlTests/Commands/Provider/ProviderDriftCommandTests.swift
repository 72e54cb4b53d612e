import DevAuthorizationServer
import Foundation
import Testing
import VaultControl

/// A provider that changes its rules: what the operator sees, and can do.
struct ProviderDriftCommandTests {
    private static let profile = """
        {"profile":1,"name":"own","source":[{"url":"https://own.example","read":"2026-01-31"}],
        "refresh":{"rotation":"never","reuseBlast":"none"}}
        """

    /// Five renewals of three logins, each with a new refresh token, at a provider whose profile says that none comes.
    private func drifted(_ world: World) async throws {
        let file = world.harness.path("own.json")
        try Data(Self.profile.utf8).write(to: URL(filePath: file))
        try await world.ok("provider", "update", "acme", "--profile-file", file, "--yes")
        for user in ["a", "b", "c"] { try await world.ok("login", "refresh", world.logIn(user)) }
        #expect(try await world.ok("provider", "drift").output.isEmpty)
        for user in ["a", "b"] { try await world.ok("login", "refresh", "--user", user) }
    }

    @Test func newRulesAreFoundAndAccepted() async throws {
        try await World.with { world in
            try await drifted(world)
            let found = try await world.harness.run("provider", "drift", "acme", "--json")
            #expect(found.status == VaultControl.ExitStatus.partlyDone.rawValue)
            let findings = try #require(try found.json["findings"] as? [[String: Any]])
            #expect(findings.map { $0["finding"] as? String } == ["rotation"])
            #expect(findings.first?["replies"] as? Int == 5 && findings.first?["logins"] as? Int == 3)
            let edits = try #require(findings.first?["edits"] as? [[String: Any]])
            #expect(
                edits.map { "\($0["section"] ?? "").\($0["field"] ?? "")=\($0["value"] ?? "")" }
                    == ["refresh.rotation=always", "refresh.reuseBlast=family"])
            #expect(
                try await world.harness.run("provider", "drift").output.contains(#"{"refresh":{"rotation":"always""#))
            let doctor = try await world.harness.run("doctor")
            #expect(doctor.output.contains("the profile says rotation: never"))
            #expect(doctor.output.contains("vaultctl provider drift acme"))
            let accepting = try await world.harness.run("doctor", "--accept", "drift", "--json").json
            let warnings = try #require(accepting["findings"] as? [[String: Any]])
            #expect(warnings.filter { $0["check"] as? String == "drift" }.map { $0["isAccepted"] as? Bool } == [true])

            // Whoever maintains the vault reports it, once.
            for _ in 0..<2 { try await world.ok("maintain", "--once") }
            let told = try await world.ok("events", "--after", "start", "--event", "providerDrifted", "--json")
            #expect(told.output.split(separator: "\n").count == 1)
            #expect(told.output.contains(#""provider":"acme""#))

            let accepted = try await world.ok("provider", "drift", "acme", "--accept", "--yes")
            #expect(accepted.error.contains("changed the profile of provider acme"))
            #expect(try await world.ok("provider", "drift", "--json").json["findings"] as? [String] == [])
            #expect(try await !world.harness.run("doctor").output.contains("rotation: never"))
            let again = try await world.ok("provider", "drift", "acme", "--accept", "--yes")
            #expect(again.error.contains("nothing to accept"))
            // The replies since then are as the profile says now.
            for user in ["a", "b", "c", "a", "b", "c"] { try await world.ok("login", "refresh", "--user", user) }
            #expect(try await world.ok("provider", "drift").error.contains("no finding, by 6 recorded replies"))
        }
    }

    /// What was reported stays until the profile changes, even if newer replies are as it says.
    @Test func aReportStaysUntilTheProfileChanges() async throws {
        try await World.with { world in
            try await drifted(world)
            try await world.ok("maintain", "--once")
            world.server.setBehaviour(ClientBehaviour(rotation: .never))
            for _ in 0..<60 { try await world.ok("login", "refresh", "--user", "c") }
            let shown = try await world.harness.run("provider", "drift", "--json")
            let findings = try #require(try shown.json["findings"] as? [[String: Any]])
            #expect(findings.map { $0["isCurrent"] as? Bool } == [false])
            #expect((findings.first?["says"] as? String)?.contains("rotation: never") == true)
            try await world.ok("provider", "drift", "acme", "--accept", "--yes")
            #expect(try await world.ok("provider", "drift", "--json").json["findings"] as? [String] == [])
        }
    }

    @Test func wrongOptionsAreRefused() async throws {
        try await World.with { world in
            try await world.fails(.usage, "provider", "drift", "--accept")
            try await world.fails(.usage, "provider", "drift", "--yes", "acme")
            try await world.fails(.usage, "provider", "drift", "--tenant", "north")
            try await world.fails(.notFound, "provider", "drift", "nobody")
        }
    }
}
