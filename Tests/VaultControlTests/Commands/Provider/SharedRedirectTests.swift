import DevAuthorizationServer
import Foundation
import Testing
import VaultControl

/// Two servers whose callbacks come to one address are told apart by their `iss`, or are refused.
struct SharedRedirectTests {
    private static let words = "come to the same redirect URI"

    private static func add(_ name: String, _ host: String, _ redirect: String, _ options: String...) -> [String] {
        [
            "provider", "add", name, "--client-id", "demo-\(name)", "--authorization-endpoint",
            "https://\(host)/authorize", "--token-endpoint", "https://\(host)/token", "--redirect-uri", redirect,
        ] + options
    }

    private static func names(_ world: World) async throws -> [String] {
        let providers = try await world.ok("provider", "list", "--json").json["providers"] as? [[String: Any]]
        return (providers ?? []).compactMap { $0["name"] as? String }
    }

    @Test func aRedirectURIOfAnotherServerIsRefused() async throws {
        try await World.with { world in
            let shared = "https://app.example/callback/one"
            try await world.ok(Self.add("one", "one.example", shared))
            // The same server with another client, and another address, are no danger.
            try await world.ok(Self.add("again", "one.example", shared))
            try await world.ok(Self.add("two", "two.example", "https://app.example/callback/two"))
            let before = try await Self.names(world)
            let commands = [
                Self.add("three", "three.example", shared), Self.add("three", "three.example", shared, "--dry-run"),
                Self.add("three", "three.example", shared, "--tenant", "contoso"),
                ["provider", "update", "two", "--redirect-uri", shared, "--yes"],
                ["provider", "update", "again", "--token-endpoint", "https://moved.example/token", "--yes"],
                ["login", "begin", "--user", "alice", "--provider", "two", "--redirect-uri", shared],
                // It names itself, and the other does not.
                ["provider", "update", "acme", "--redirect-uri", shared, "--yes"],
            ]
            for command in commands {
                let refused = try await world.fails(.usage, command)
                #expect(refused.error.contains(Self.words), "\(command): \(refused.error)")
                #expect(refused.error.contains("give each provider a redirect URI of its own"), "\(refused.error)")
                // A tenant's customer is not told how the vault's other providers are called.
                #expect(refused.error.contains("provider, one,") != command.contains("contoso"), "\(refused.error)")
            }
            #expect(try await Self.names(world) == before)
            let doctor = try await world.harness.run("doctor")
            #expect(doctor.output.contains("no two servers share one without naming themselves"), "\(doctor.output)")
        }
    }

    @Test func serversThatNameThemselvesShareOne() async throws {
        try await World.with { world in
            try await DevAuthorizationServer.withRunningServer(AuthorizationServerConfiguration()) { other in
                _ = try await world.ok(
                    "provider", "add", "other", "--issuer", other.issuer, "--client-id", "demo", "--redirect-uri",
                    World.redirectURI, "--allow-insecure-loopback")
            }
        }
    }

    /// Without a challenge and without an id token, a code of somebody else's log-in would be taken.
    @Test func aLogInThatNothingProtectsIsWarnedOf() async throws {
        try await World.with { world in
            let profile = try world.harness.file(
                "bare.json",
                #"{"profile":1,"name":"bare","source":[{"url":"https://a.example","read":"2026-01-31"}],"#
                    + #""client":{"pkce":false}}"#)
            let words = "nothing protects its log-ins from the codes of others"
            let redirect = "https://app.example/callback/bare"
            let bare = try await world.ok(Self.add("bare", "bare.example", redirect, "--profile-file", profile))
            #expect(bare.error.contains(words), "\(bare.error)")
            for options in [["--profile-file", profile, "--scope", "openid"], []] {
                try await world.ok("provider", "remove", "bare", "--yes")
                let added = try await world.ok(Self.add("bare", "bare.example", redirect) + options)
                #expect(!added.error.contains(words), "\(options): \(added.error)")
            }
        }
    }
}
