import DevAuthorizationServer
import Foundation
import Testing
import VaultControl

/// A provider that ends one login after the other: what the operator sees, and can do.
struct AcceptDeathsCommandTests {
    @Test func aStoppedProviderIsReportedAndLetGoOn() async throws {
        try await World.with { world in
            try await world.ok("provider", "update", "acme", "--death-limit", "2", "--yes")
            var logins: [String] = []
            for user in ["a", "b", "c"] { logins.append(try await world.logIn(user)) }
            for user in ["a", "b", "c"] { #expect(!world.server.revokeGrant(user: user).isEmpty) }
            try await world.fails(.loginDead, "login", "refresh", logins[0])
            try await world.fails(.loginDead, "login", "refresh", logins[1])
            let waiting = try await world.fails(.provider, "login", "refresh", logins[2])
            #expect(waiting.error.contains("the provider acme has ended many logins in a row"))
            #expect(waiting.error.contains("vaultctl provider accept-deaths acme"))
            let doctor = try await world.harness.run("doctor")
            #expect(doctor.output.contains("the provider ended 2 logins in a row and is stopped"))
            #expect(try await world.ok("audit", "list").output.contains("providerStopped"))

            let accepted = try await world.ok("provider", "accept-deaths", "acme", "--yes", "--json")
            #expect(try accepted.json["accepted"] as? String == "acme")
            #expect(try await !world.harness.run("doctor").output.contains("is stopped"))
            let told = try await world.ok(
                "events", "--after", "start", "--event", "providerStopped", "--event", "providerResumed", "--json")
            let events = try told.output.split(separator: "\n").map {
                try #require(JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
            }
            #expect(events.map { $0["event"] as? String } == ["providerStopped", "providerResumed"])
            #expect(events.map { $0["provider"] as? String } == ["acme", "acme"])
            #expect(events.first?["ended"] as? Int == 2)
            #expect(events.allSatisfy { $0["login"] is NSNull })
            #expect(try await world.ok("events").output.contains("acme, after 2 logins"))
        }
    }

    @Test func settingsOfEndsAreShownAndRemoved() async throws {
        try await World.with { world in
            try await world.ok("provider", "update", "acme", "--keep-ended-days", "3", "--death-limit", "0", "--yes")
            let shown = try await world.ok("provider", "show", "acme", "--json").json
            #expect(shown["keepEndedDays"] as? Int == 3)
            #expect(shown["deathLimit"] as? Int == 0)
            try await world.ok("provider", "update", "acme", "--remove", "keep-ended-days", "--yes")
            #expect(try await world.ok("provider", "show", "acme", "--json").json["keepEndedDays"] is NSNull)
            try await world.fails(.usage, "provider", "update", "acme", "--keep-ended-days", "999", "--yes")
        }
    }
}
