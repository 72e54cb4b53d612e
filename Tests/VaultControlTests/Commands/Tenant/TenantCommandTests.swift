import DevAuthorizationServer
import Foundation
import OAuthClient
import Testing
import TokenVault
import TokenVaultHTTP
import VaultControl

/// `vaultctl tenant`, and what `--tenant` shows.
struct TenantCommandTests {
    /// A service puts users into tenants; the command line looks after them.
    private static func addUsers(_ world: World, _ names: [String: [String]]) async throws {
        let vault = try await Vault.open(
            in: world.harness.location(), unlockedBy: .keyFile(world.harness.key))
        let transport = AsyncHTTPTransport(options: .init(allowsInsecureLoopback: true))
        let users = try await UserManager(vault: vault, transport: transport)
        for (tenant, names) in names {
            let view = users.scoped(to: try #require(Tenant(tenant)))
            for name in names {
                let grant = try #require(world.server.issueGrant(user: name))
                _ = try await view.addLogin(
                    userId: name, provider: "acme", accessToken: AccessToken(grant.accessToken),
                    refreshToken: grant.refreshToken.map { try RefreshToken($0) })
            }
        }
        await vault.close()
        await transport.shutdown()
    }

    /// Each command that names a user or a provider takes the tenant's, and none shows the separator.
    @Test func tenantsAreRunByHand() async throws {
        try await World.with { world in
            let contoso = ["--tenant", "contoso"]
            func run(_ words: String...) async throws -> RunResult {
                let result = try await world.harness.run(words + contoso)
                #expect(result.status == 0, "\(words): \(result.error)")
                #expect(!(result.output + result.error).contains("1d}"), "\(words): \(result.output)\(result.error)")
                return result
            }
            let added = try await run(
                "provider", "add", "acme", "--issuer", world.server.issuer, "--client-id", "demo",
                "--allow-insecure-loopback", "--redirect-uri", "https://app.example/callback")
            #expect(added.output.hasPrefix("name\tacme\ntenant\tcontoso\n"), "\(added.output)")
            let grant = try #require(world.server.issueGrant(user: "alice"))
            let login = try await world.harness.run(
                ["login", "add", "--user", "alice", "--provider", "acme", "--refresh-token", "-"] + contoso,
                input: try #require(grant.refreshToken)
            ).line
            let unknown = try await world.harness.run(
                [
                    "login", "add", "--user", "alice", "--tenant", "nobody", "--provider", "acme", "--refresh-token",
                    "-",
                ], input: "other")
            #expect(unknown.status == ExitStatus.notFound.rawValue && !unknown.error.contains("is new"))
            #expect(try await run("login", "show", "--user", "alice").output.contains("contoso/alice"))
            #expect(try await run("token", "get", "--user", "alice").output.contains(login))
            #expect(try await run("login", "refresh", "--user", "alice").status == 0)
            #expect(try await run("login", "begin", "--user", "bob", "--provider", "acme").output.contains("state="))
            #expect(try await run("login", "list").output.contains("contoso/alice"))
            #expect(try await run("provider", "list").output.contains("contoso/acme"))
            #expect(try await run("status", "--provider", "acme").output.contains("contoso/acme"))
            #expect(try await run("user", "show", "alice").output.contains(login))
            #expect(try await run("audit", "list", "--user", "alice").output.contains(login))
            #expect(try await run("events", "--user", "alice").output.contains(login))
            #expect(try await run("key", "rotate", "--data-keys", "--user", "alice").status == 0)
            #expect(try await run("restore", "accept", "--provider", "acme", "--dry-run").status == 0)
            #expect(
                try await world.fails(.notFound, "login", "show", "--user", "alice").error.contains("no user alice"))
            #expect(
                try await world.fails(.notFound, "login", "list", "--tenant", "nosuch").error.contains(
                    "no tenant nosuch"))
            let plan = try await world.ok("tenant", "erase", "contoso", "--dry-run", "--json").json
            #expect(plan["users"] as? Int == 1 && plan["isDryRun"] as? Bool == true)
            #expect(try await run("user", "disable", "alice", "--yes").error.contains("disabled user contoso/alice"))
            #expect(try await run("user", "enable", "alice").error.contains("contoso/alice"))
            // On a server, former states of rows stay until it has vacuumed them: exit code 3.
            let erased = try await world.harness.run(["user", "erase", "alice", "--yes"] + contoso)
            #expect(
                [0, 3].contains(erased.status) && erased.error.contains("erased user contoso/alice"), "\(erased.error)")
            #expect(try await world.ok("user", "list", "--count", "--json").json["users"] as? Int == 0)
        }
    }

    /// Two tenants whose stores name the same users, the same providers and themselves alike.
    @Test func whatATenantImportsIsItsOwn() async throws {
        try await World.with { world in
            var paths: [String] = []
            for tenant in ["contoso", "fabrikam"] {
                try await world.ok(
                    "provider", "add", "acme", "--tenant", tenant, "--issuer", world.server.issuer, "--client-id",
                    "demo", "--allow-insecure-loopback")
                let grant = try #require(world.server.issueGrant(user: "alice"))
                paths.append(
                    try world.harness.file(
                        "\(tenant).jsonl",
                        #"{"user":"alice","provider":"acme","access_token":"\#(grant.accessToken)","refresh_token":"#
                            + #""\#(try #require(grant.refreshToken))"}"# + "\n"))
            }
            func run(_ path: String, _ tenant: String) async throws -> RunResult {
                try await world.ok("import", "run", path, "--name", "web", "--tenant", tenant, "--json")
            }
            let first = try await run(paths[0], "contoso").json
            #expect(first["source"] as? String == "contoso/web")
            #expect((first["outcomes"] as? [String: Int])?["added"] == 1)
            let second = try await run(paths[1], "fabrikam").json
            #expect((second["outcomes"] as? [String: Int])?["added"] == 1 && second["missing"] as? Int == 0)
            // The one's is not missing because the other's source does not have it.
            #expect(try await run(paths[0], "contoso").json["missing"] as? Int == 0)
            #expect(try await world.ok("user", "list", "--tenant", "contoso").output.contains("contoso/alice"))
            try await world.fails(.notFound, "user", "show", "alice")
            let accepted = try await world.ok(
                "import", "accept", "web", "--tenant", "contoso", "--provider", "acme", "--source-is-gone", "--json")
            #expect(try accepted.json["accepted"] as? Int == 1)
            try await world.ok("login", "refresh", "--user", "alice", "--tenant", "contoso")
            try await world.fails(.rollback, "login", "refresh", "--user", "alice", "--tenant", "fabrikam")
        }
    }

    /// A store's rows are a stranger's text: none of them names a tenant.
    @Test func noRowOfASourceNamesATenant() async throws {
        try await World.with { world in
            let separated = "\\u001dcontoso\\u001d"
            func row(_ user: String, _ provider: String) -> String {
                #"{"user":"\#(user)","provider":"\#(provider)","access_token":"CANARY-1","refresh_token":"CANARY-\#(user.count)"}"#
                    + "\n"
            }
            try await world.ok(
                "provider", "add", "acme", "--tenant", "contoso", "--issuer", world.server.issuer, "--client-id",
                "demo", "--allow-insecure-loopback")
            let path = try world.harness.file(
                "rows.jsonl",
                row(separated + "alice", "acme") + row("bob", separated + "acme") + row("carolyn", "acme"))
            let result = try await world.harness.run("import", "run", path, "--json")
            #expect(result.status == 3, "\(result.error)")
            #expect(try result.json["reasons"] as? [String: Int] == ["malformedUser": 1, "unknownProvider": 1])
            #expect(try await world.ok("user", "list", "--count", "--json").json["users"] as? Int == 1)
            let advice = try await world.harness.run(
                "import", "run", path, "--tenant", "fabrikam", "--dry-run", "--name", "other")
            #expect(advice.error.contains("provider add acme --tenant fabrikam --issuer URL --client-id CLIENT-ID"))
        }
    }

    @Test func tenantsAreListedAndErased() async throws {
        try await World.with { world in
            for tenant in ["contoso", "fabrikam"] {
                let added = try await world.ok(
                    "provider", "add", "acme", "--tenant", tenant, "--issuer", world.server.issuer, "--client-id",
                    "demo",
                    "--allow-insecure-loopback", "--json")
                #expect(try added.json["tenant"] as? String == tenant)
            }
            try await Self.addUsers(world, ["contoso": ["alice", "bob"], "fabrikam": ["alice"]])
            let list = try await world.ok("tenant", "list")
            #expect(list.output == "contoso\t2\t2\t1\nfabrikam\t1\t1\t1\n")
            let logins = try await world.ok("login", "list", "--tenant", "contoso", "--user", "alice", "--json").json
            let rows = try #require(logins["logins"] as? [[String: Any]])
            #expect(rows.map { $0["tenant"] as? String } == ["contoso"])
            let users = try await world.ok("user", "list", "--tenant", "fabrikam", "--json").json
            #expect((users["users"] as? [[String: Any]])?.map { $0["tenant"] as? String } == ["fabrikam"])
            try await world.ok("provider", "update", "acme", "--tenant", "contoso", "--scope", "write", "--yes")
            #expect(try await world.ok("provider", "show", "acme", "--json").json["scope"] as? String == "read")

            #expect(try await world.fails(.usage, "tenant", "erase", "contoso").error.contains("--yes"))
            #expect(
                try await world.fails(.notFound, "tenant", "erase", "nobody", "--yes").error.contains(
                    "no tenant nobody"))
            let erased = try await world.ok("tenant", "erase", "contoso", "--yes", "--json").json
            #expect(erased["users"] as? Int == 2)
            #expect((erased["remainingProviders"] as? [Any])?.isEmpty == true)
            #expect(try await world.ok("tenant", "list").output == "fabrikam\t1\t1\t1\n")
            try await world.ok("verify")
        }
    }
}
