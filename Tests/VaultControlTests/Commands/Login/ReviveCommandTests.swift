import DevAuthorizationServer
import Foundation
import Testing
import VaultControl

/// `vaultctl login revive`: what can be revived is, and what cannot says why.
struct ReviveCommandTests {
    @Test func onlyWhatWasKeptIsRevived() async throws {
        try await World.with { world in
            let login = try await world.logIn("alice")
            // Nothing is wrong with it.
            let living = try await world.fails(.usage, "login", "revive", login, "--json")
            #expect(try (living.json["error"] as? [String: Any])?["code"] as? String == "conflict")
            let profile = try world.harness.file(
                "asks.json",
                """
                {"profile":1,"name":"asks","source":[{"url":"u","read":"2026-01-31"}],\
                "errors":{"needsUser":["invalid_grant"]}}
                """)
            try await world.ok("provider", "update", "acme", "--profile-file", profile, "--yes")
            #expect(!world.server.revokeGrant(user: "alice").isEmpty)
            try await world.fails(.loginDead, "login", "refresh", login)
            #expect(try await world.ok("login", "revive", login, "--json").json["failure"] is NSNull)
            #expect(try await world.ok("events").output.contains("alice"))
        }
    }
}
