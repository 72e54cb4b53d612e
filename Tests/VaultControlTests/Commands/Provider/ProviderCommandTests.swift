import DevAuthorizationServer
import Testing
import VaultControl

struct ProviderCommandTests {
    @Test func discoveryFindsTheEndpoints() async throws {
        try await World.with { world in
            let provider = try await world.ok("provider", "show", "acme", "--json").json
            #expect(provider["issuer"] as? String == world.server.issuer)
            #expect((provider["tokenEndpoint"] as? String)?.hasPrefix(world.server.base) == true)
            #expect((provider["revocationEndpoint"] as? String)?.hasPrefix(world.server.base) == true)
            #expect(try await world.ok("provider", "list").output.hasPrefix("acme\t"))
        }
    }

    @Test func clientSecretsComeFromFilesAndAreNeverShown() async throws {
        let secret = Harness.marker + "client-secret"
        try await World.with({
            $0.clients.append(
                RegisteredClient(
                    id: "confidential", authentication: .basic(secret: secret), redirectURIs: [World.redirectURI]))
        }) { world in
            let file = try world.harness.file("secret", secret + "\n")
            try await world.ok(
                "provider", "add", "other", "--issuer", world.server.issuer, "--client-id", "confidential",
                "--client-secret-file", file, "--redirect-uri", World.redirectURI, "--allow-insecure-loopback")
            let shown = try await world.ok("provider", "show", "other")
            #expect(shown.output.contains("client authentication\tclient_secret_basic"))
            let url = try await world.ok("login", "begin", "--user", "alice", "--provider", "other").line
            let callback = try await Browser.visit(url)
            let login = try await world.complete(callback).line
            try await world.ok("login", "refresh", login)
        }
    }

    @Test func wrongClientSecretKillsNoLogin() async throws {
        try await World.with { world in
            let file = try world.harness.file("secret", Harness.marker + "wrong")
            try await world.ok(
                "provider", "add", "other", "--issuer", world.server.issuer, "--client-id", "demo",
                "--client-secret-file", file, "--allow-insecure-loopback")
            let grant = try #require(world.server.issueGrant(user: "dora", client: "demo"))
            let tokens = try world.harness.file("refresh", try #require(grant.refreshToken))
            let login = try await world.ok(
                "login", "add", "--user", "dora", "--provider", "other", "--refresh-token-file", tokens
            ).line
            let result = try await world.fails(.provider, "login", "refresh", login)
            #expect(result.error.contains("client"))
            #expect(try await world.ok("login", "show", login, "--json").output.contains("\"failure\":null"))
        }
    }

    @Test func endpointsCanBeGivenByHand() async throws {
        try await World.with { world in
            try await world.ok(
                "provider", "add", "byhand", "--client-id", "demo", "--token-endpoint", world.server.base + "/token",
                "--allow-insecure-loopback")
            let result = try await world.harness.run(
                "provider", "add", "insecure", "--client-id", "demo", "--token-endpoint", "http://example.com/token")
            #expect(result.status == 1)
            #expect(result.error.contains("neither https nor an allowed loopback address"))
        }
    }

    @Test func aProviderInUseIsNotRemoved() async throws {
        try await World.with { world in
            let login = try await world.logIn("alice")
            let refused = try await world.fails(.usage, "provider", "remove", "acme", "--yes")
            #expect(refused.error.contains("vaultctl login"))
            try await world.ok("login", "revoke", login, "--yes")
            try await world.ok("provider", "remove", "acme", "--yes")
            try await world.fails(.notFound, "provider", "show", "acme")
        }
    }

    @Test func aProviderWithoutPublicClientsIsNotAddedAsOne() async throws {
        let harness = try Harness()
        try await harness.run("init")
        let refused = try await harness.run("provider", "add", "g", "--profile", "google", "--client-id", "c")
        #expect(refused.status == 1)
        let sentence = "the profile google authenticates by client_secret_post, which needs the client's secret"
        #expect(refused.error.contains(sentence), "\(refused.error)")
        #expect(try await harness.run("provider", "list").output.isEmpty)
        let file = try harness.file("secret", Harness.marker + "secret")
        let added = try await harness.run(
            "provider", "add", "g", "--profile", "google", "--client-id", "c", "--client-secret-file", file, "--json")
        #expect(try added.json["clientAuthentication"] as? String == "client_secret_post")
    }

    @Test func aNameThatIsTakenIsToldAsSuch() async throws {
        try await World.with { world in
            let result = try await world.fails(
                .usage, "provider", "add", "acme", "--client-id", "x", "--token-endpoint", "https://acme.example/token")
            #expect(result.error.contains("already a provider acme"))
        }
    }

    @Test(arguments: [
        ("https://no-such-host.invalid", "cannot be reached"), ("https://127.0.0.1:1", "cannot be reached"),
        ("http://example.com", "loopback"), ("ftp://example.com", "issuer"), ("", "issuer"),
    ])
    func anIssuerThatCannotBeAskedIsToldAsSuch(_ issuer: String, _ words: String) async throws {
        let harness = try Harness()
        try await harness.run("init")
        let result = try await harness.run("provider", "add", "acme", "--client-id", "x", "--issuer", issuer)
        #expect([1, 9].contains(result.status), "\(result.error)")
        #expect(result.error.contains(words), "\(result.error)")
        #expect(try await harness.run("provider", "list").output.isEmpty)
    }
}
