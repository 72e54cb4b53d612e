import DevAuthorizationServer
import Testing

@testable import VaultControl

/// `vaultctl token client` and `vaultctl request --client`.
struct ClientTokenCommandTests {
    private func withClient(_ body: (World) async throws -> Void) async throws {
        try await World.with {
            $0.clients.append(RegisteredClient(id: "job", authentication: .basic(secret: "CANARY-job")))
        } _: { world in
            let secret = try world.harness.file("secret", "CANARY-job")
            try await world.ok(
                "provider", "add", "billing", "--issuer", world.server.issuer, "--client-id", "job",
                "--client-secret-file", secret, "--allow-insecure-loopback")
            try await body(world)
        }
    }

    @Test func aTokenOfTheClientIsDescribedAndShownOnlyOnRequest() async throws {
        try await withClient { world in
            let shown = try await world.ok("token", "client", "billing", "--scope", "read", "--json").json
            #expect(shown["provider"] as? String == "billing")
            #expect(shown["scope"] as? String == "read")
            #expect(shown["tokenType"] as? String == "Bearer")
            #expect(shown["accessToken"] == nil)
            let revealed = try await world.ok("token", "client", "billing", "--reveal")
            #expect(revealed.line.contains("CANARY-"))
            let audit = try await world.ok("audit", "list", "--kind", "clientTokenRevealed", "--json")
            #expect(audit.output.split(separator: "\n").count == 1)
            #expect(audit.output.contains(#""provider":"billing""#))
        }
    }

    @Test func aRequestGoesWithATokenOfTheClient() async throws {
        try await withClient { world in
            let reply = try await world.ok(
                "request", world.server.base + "/resource", "--client", "billing", "--scope", "read",
                "--allow-insecure-loopback"
            ).json
            #expect(reply["user"] as? String == "job")
            let result = try await world.fails(
                .usage, "request", world.server.base, "--client", "billing", "--user", "alice")
            #expect(result.error.contains("--client cannot be combined with a login or --user"))
            try await world.fails(.usage, "request", world.server.base, "--user", "alice", "--scope", "read")
        }
    }

    @Test func refusalsSayWhatToDo() async throws {
        try await withClient { world in
            let refused = try await world.fails(.provider, "token", "client", "billing", "--scope", "nonsense")
            #expect(refused.error.contains("the provider gives no token for this resource or scope"))
            #expect(refused.error.contains("hint: compare the resource and the scope"))
            let open = try await world.fails(.usage, "token", "client", "acme")
            #expect(open.error.contains("a public client gets no token of its own"))
            try await world.fails(.notFound, "token", "client", "none")
            try await world.fails(.usage, "token", "client", "billing", "--parameter", "audience")
        }
    }
}
