import Testing
import VaultControl

/// A restore that the vault cannot notice.
struct RestoreHoldCommandTests {
    @Test func allLoginsAreHeldUntilTheyAreAccepted() async throws {
        try await World.with { world in
            let alice = try await world.logIn("alice")
            let refused = try await world.fails(.usage, "restore", "hold")
            #expect(refused.error.contains("--yes"))
            #expect(try await world.ok("restore", "status").error.contains("no login is held"))
            let report = try await world.ok("restore", "hold", "--yes", "--json").json
            let providers = try #require(report["providers"] as? [[String: Any]])
            #expect(providers.first?["held"] as? Int == 1)
            #expect(try await world.ok("status").error.contains("vaultctl restore status"))
            let before = world.refreshes
            try await world.fails(.rollback, "login", "refresh", alice)
            #expect(world.refreshes == before)
            try await world.ok("restore", "accept", "--provider", "acme", "--probe", "1")
            #expect(world.refreshes == before + 1)
            #expect(try await world.ok("restore", "status").error.contains("no login is held"))
            #expect(try await !world.ok("status").error.contains("vaultctl restore status"))
        }
    }
}
