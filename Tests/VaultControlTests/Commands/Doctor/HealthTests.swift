import DevAuthorizationServer
import EngineSupport
import Foundation
import Testing
import VaultControl

/// Nothing looks well while users lose their tokens.
@Suite(.tags(.everyEngine))
struct HealthTests {
    private static func findings(_ world: World, _ options: String...) async throws -> (
        status: Int32, all: [[String: Any]]
    ) {
        let result = try await world.harness.run(["doctor", "--json"] + options)
        return (result.status, try #require(try result.json["findings"] as? [[String: Any]]))
    }

    private static func levels(_ findings: [[String: Any]], _ check: String) -> [String] {
        findings.filter { $0["check"] as? String == check }.compactMap { $0["level"] as? String }
    }

    private static func state(_ world: World) async throws -> [String: Any] {
        let states = try await world.ok("status", "--json").json["states"] as? [[String: Any]]
        return try #require(states?.first)
    }

    @Test func aRefusedClientIsAProblemEverywhere() async throws {
        try await World.with { world in
            let alice = try await world.logInExpired("alice")
            let before = try await Self.findings(world)
            #expect(Self.levels(before.all, "provider") == ["ok"])
            let words = #"{"error":"invalid_client","error_description":"the secret has expired"}"#
            world.server.faults.add(
                .status(401, headers: ["Content-Type": "application/json"], body: words).times(0))
            #expect(try await world.harness.run("maintain", "--once").status == 3)

            let found = try await Self.findings(world)
            #expect(found.status == 3)
            let finding = try #require(found.all.first { $0["check"] as? String == "provider" })
            #expect(finding["level"] as? String == "problem")
            #expect(finding["subject"] as? String == "acme")
            let text = try #require(finding["text"] as? String)
            #expect(text.contains("invalid_client") && text.contains("the secret has expired"))
            #expect((finding["hint"] as? String)?.contains("provider update acme --client-secret-file") == true)

            let state = try await Self.state(world)
            #expect(state["refused"] as? Int == 1)
            #expect(state["isFailing"] as? Bool == true)
            #expect(state["withoutToken"] as? Int == 1)
            #expect((state["lastRefusal"] as? [String: Any])?["answer"] as? String != nil)
            #expect(state["lastSuccess"] as? String != nil)
            #expect(try await world.ok("login", "list", "--state", "refused").output.hasPrefix(alice))
            #expect(try await world.ok("login", "list", "--state", "expired").output.isEmpty)
            let shown = try await world.ok("login", "show", alice, "--json").json
            #expect((shown["nextStep"] as? [String: Any])?["step"] as? String == "mendClient")
            let endings = try await world.ok("report", "--dying", "1d", "--json").json["endings"] as? [[String: Any]]
            #expect(endings?.map { $0["cause"] as? String } == ["refused"])
        }
    }

    @Test func heldLoginsAreListedAndBecomeAProblem() async throws {
        try await World.with { world in
            let alice = try await world.logInExpired("alice")
            try await world.ok("restore", "hold", "--yes")
            #expect(try await world.ok("login", "list", "--state", "held").output.hasPrefix(alice))
            #expect(try await world.ok("login", "list", "--count", "--json").json["held"] as? Int == 1)
            #expect(try await Self.state(world)["heldByRestore"] as? Int == 1)
            let endings = try await world.ok("report", "--dying", "1d", "--json").json["endings"] as? [[String: Any]]
            #expect(endings?.map { $0["cause"] as? String } == ["held"])
            // A warning may be meant; that users are without tokens never is.
            let found = try await Self.findings(world, "--accept", "login")
            #expect(found.status == 3)
            #expect(Self.levels(found.all, "login").contains("problem"))
        }
    }

    @Test func whatIsMeantToBeSoCanBeAccepted() async throws {
        try await World.with { world in
            let found = try await Self.findings(world).all
            let problems = found.filter { $0["level"] as? String == "problem" }
            #expect(problems.isEmpty, "\(problems)")
            let warned = Set(found.filter { $0["level"] as? String == "warning" }.compactMap { $0["check"] as? String })
            try #require(!warned.isEmpty, "a vault with one key has a warning")
            let options = warned.flatMap { ["--accept", $0] }
            let result = try await world.ok(["doctor", "--json"] + options)
            #expect(try result.json["isHealthy"] as? Bool == true)
            let accepted = try #require(try result.json["findings"] as? [[String: Any]])
            #expect(
                Set(accepted.filter { $0["isAccepted"] as? Bool == true }.compactMap { $0["check"] as? String })
                    == warned)
            try await world.fails(.usage, "doctor", "--accept", "everything")
        }
    }

    @Test func metricsAreWrittenAndReplaceNothingElse() async throws {
        try await World.with { world in
            try await world.logInExpired("alice")
            let path = world.harness.path("tokenvault.prom")
            try await world.ok("maintain", "--once", "--metrics-file", path)
            let text = try String(contentsOfFile: path, encoding: .utf8)
            #expect(text.contains("# TYPE token_vault_renewals counter\n"))
            #expect(text.contains("token_vault_renewals{provider=\"acme\",outcome=\"renewed\"} 1\n"))
            #expect(text.contains("token_vault_renewal_duration_seconds_count{provider=\"acme\"} 1\n"))
            #expect(text.contains("token_vault_logins{provider=\"acme\",state=\"refused\"} 0.0\n"))
            #expect(text.contains("token_vault_last_success_timestamp_seconds{provider=\"acme\"} "))
            #expect(!text.contains(Harness.marker) && !text.contains("alice"))
            // Its own file again.
            try await world.ok("maintain", "--once", "--metrics-file", path)
            let key = try Data(contentsOf: URL(filePath: world.harness.key))
            let refused = try await world.fails(
                .usage, "maintain", "--once", "--metrics-file", world.harness.key)
            #expect(refused.error.contains("is not a file of metrics"))
            #expect(try Data(contentsOf: URL(filePath: world.harness.key)) == key)
        }
    }

    @Test func aProviderThatIsDownFailsItsTest() async throws {
        try await World.with { world in
            try await world.ok("provider", "test", "acme")
            world.server.faults.add(.status(503).times(0))
            let result = try await world.harness.run("provider", "test", "acme")
            #expect(result.status == 9)
            #expect(result.output.contains("answers 503"))
        }
    }
}

/// Backups that cannot be made.
struct BackupDirectoryTests {
    @Test func aDirectoryThatIsNotThereIsRefusedAtTheStart() async throws {
        try await World.with { world in
            let missing = world.harness.path("unmounted")
            let refused = try await world.fails(
                .machine, "maintain", "--once", "--backup-every", "6h", "--backup-dir", missing)
            #expect(refused.error.contains("no directory for backups") && refused.error.contains(missing))
            let file = try world.harness.file("file", "x")
            let other = try await world.fails(
                .usage, "maintain", "--once", "--backup-every", "6h", "--backup-dir", file)
            #expect(other.error.contains("is not a directory"))
            #expect(try await world.ok("maintain", "--once", "--json").json["backupFailed"] is NSNull)
        }
    }
}
