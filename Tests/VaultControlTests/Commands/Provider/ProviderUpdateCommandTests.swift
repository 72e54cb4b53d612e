import DevAuthorizationServer
import EngineSupport
import Foundation
import Testing
import VaultAdministration
import VaultControl

/// `vaultctl provider update`
struct ProviderUpdateCommandTests {
    /// Every file of the vault that holds something, by name. Readers, too, leave traces in the shared memory.
    private static func files(_ harness: Harness) throws -> [String: Data] {
        let names = try FileManager.default.subpathsOfDirectory(atPath: harness.directory)
        return try names.reduce(into: [:]) { files, name in
            guard name.hasPrefix("app.vault"), !name.hasSuffix("-shm"),
                let data = FileManager.default.contents(atPath: harness.path(name))
            else { return }
            let attributes = try FileManager.default.attributesOfItem(atPath: harness.path(name))
            guard attributes[.type] as? FileAttributeType == .typeRegular else { return }
            files[name] = data
        }
    }

    private static func provider(_ world: World) async throws -> [String: String] {
        try await world.ok("provider", "show", "acme", "--json").json.compactMapValues { $0 as? String }
    }

    @Test func aFurtherSecretIsAddedToThoseThatThereAre() async throws {
        try await World.with { world in
            func file(_ name: String) throws -> String {
                let path = world.harness.path(name)
                try Data("CANARY-\(name)".utf8).write(to: URL(filePath: path))
                try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
                return path
            }
            let (first, second, third) = (try file("first"), try file("second"), try file("third"))
            try await world.ok(
                "provider", "update", "acme", "--client-auth", "client_secret_basic", "--client-secret-file", first,
                "--yes")
            for path in [second, third, second] {
                try await world.ok("provider", "update", "acme", "--second-client-secret-file", path, "--yes")
            }
            let shown = try await world.ok("provider", "show", "acme", "--json").json
            #expect(shown["clientSecretCount"] as? Int == 3)
            let same = try await world.fails(
                .usage, "provider", "update", "acme", "--second-client-secret-file", first, "--yes")
            #expect(same.error.contains("cannot follow itself"))
        }
    }

    @Test func aChangeIsToldBeforeAndAfterAndIsInTheAuditLog() async throws {
        try await World.with { world in
            let entries = try #require(try await world.ok("status", "--json").json["auditEntries"] as? Int)
            let result = try await world.ok(
                "provider", "update", "acme", "--scope", "read write", "--dpop", "required", "--remove", "redirect-uri",
                "--yes")
            #expect(
                result.output == """
                    scope\tread\tread write
                    redirectUri\t\(World.redirectURI)\tnone
                    dpop\toptional\trequired

                    """)
            let shown = try await Self.provider(world)
            #expect(shown["scope"] == "read write")
            #expect(shown["redirectUri"] == nil)
            #expect(shown["dpop"] == "required")
            #expect(try await world.ok("status", "--json").json["auditEntries"] as? Int == entries + 1)
            let again = try await world.ok("provider", "update", "acme", "--dpop", "required", "--yes", "--json").json
            #expect((again["changes"] as? [Any])?.isEmpty == true)
            #expect(again["isWritten"] as? Bool == false)
            #expect(try await world.ok("status", "--json").json["auditEntries"] as? Int == entries + 1)
            try await world.ok("verify")
        }
    }

    @Test func apiOriginsAreAddedAndRemovedOneByOne() async throws {
        try await World.with { world in
            func origins() async throws -> [String]? {
                try await world.ok("provider", "show", "acme", "--json").json["apiOrigins"] as? [String]
            }
            let update = ["provider", "update", "acme", "--yes"]
            #expect(try await origins() == [])
            #expect(try await world.ok("provider", "show", "acme").output.contains("any (https)"))
            let added = try await world.ok(update + ["--api-origin", "https://API.acme.example:443/"])
            #expect(added.output == "apiOrigins\tnone\thttps://api.acme.example\n")
            try await world.ok(
                update + ["--api-origin", "https://*.eu.acme.example", "--api-origin", "https://api.acme.example"])
            #expect(try await origins() == ["https://api.acme.example", "https://*.eu.acme.example"])
            try await world.ok(update + ["--remove-api-origin", "https://api.acme.example"])
            #expect(try await origins() == ["https://*.eu.acme.example"])
            let unknown = try await world.fails(.usage, update + ["--remove-api-origin", "https://api.acme.example"])
            #expect(unknown.error.contains("is not among the provider's API origins"))
            let last = try await world.fails(.usage, update + ["--remove-api-origin", "https://*.eu.acme.example"])
            #expect(last.error.contains("could be sent to every https URL"))
            #expect(last.error.contains("--remove api-origins"))
            let path = try await world.fails(.usage, update + ["--api-origin", "https://api.acme.example/v1"])
            #expect(path.error.contains("the API origin is malformed"))
            try await world.ok(update + ["--remove", "api-origins"])
            #expect(try await origins() == [])
            try await world.ok("verify")
        }
    }

    @Test func withoutATerminalItMustBeConfirmed() async throws {
        try await World.with { world in
            let result = try await world.fails(.usage, "provider", "update", "acme", "--scope", "write")
            #expect(result.error.contains("--yes"))
            #expect(try await Self.provider(world)["scope"] == "read")
        }
    }

    @Test(.aboutFiles("no byte of the file changes"))
    func aDryRunWritesNothing() async throws {
        try await World.with { world in
            let secret = try world.harness.file("secret", Harness.marker + "secret")
            let before = try Self.files(world.harness)
            #expect(before.keys.contains("app.vault") && before.keys.contains("app.vault-wal"))
            let result = try await world.ok(
                "provider", "update", "acme", "--scope", "write", "--client-secret-file", secret, "--dry-run", "--json")
            let changes = try #require(try result.json["changes"] as? [[String: Any]])
            #expect(
                changes.compactMap { $0["field"] as? String } == ["clientAuthentication", "scope", "clientSecrets"])
            #expect(try result.json["isWritten"] as? Bool == false)
            #expect(try Self.files(world.harness) == before)
            try await world.ok("provider", "update", "acme", "--scope", "write", "--yes")
            #expect(try Self.files(world.harness) != before)
        }
    }

    @Test(arguments: [("y\n", true), ("n\n", false), ("\n", false), ("\u{4}", false)])
    func aPersonSeesTheChangeAndIsAsked(_ answer: String, _ isDone: Bool) async throws {
        try await World.with { world in
            let terminal = try PseudoTerminal(
                ["provider", "update", "acme", "--scope", "write"], environment: world.harness.environment)
            try await terminal.wait(for: "Change provider acme? [y/N] ")
            #expect(terminal.screen.contains("before  read\r\n  after   write\r\n"))
            #expect(!terminal.screen.contains("cannot be undone"))
            #expect(try await Self.provider(world)["scope"] == "read")
            terminal.type(answer)
            #expect(try await terminal.exitCode() == (isDone ? 0 : 1), "\(terminal.screen)")
            #expect(try await Self.provider(world)["scope"] == (isDone ? "write" : "read"))
        }
    }

    @Test func anAnswerToAnotherQuestionIsNoConsent() async throws {
        try await World.with { world in
            let terminal = try PseudoTerminal(
                ["provider", "update", "acme", "--scope", "write"], environment: world.harness.environment)
            try await terminal.wait(for: "Change provider acme? [y/N] ")
            try await world.ok("provider", "update", "acme", "--scope", "admin", "--yes")
            terminal.type("y\n")
            #expect(try await terminal.exitCode() == 1, "\(terminal.screen)")
            #expect(terminal.screen.contains("changed by another process meanwhile"))
            #expect(try await Self.provider(world)["scope"] == "admin")
        }
    }

    @Test func clientSecretsAreExchangedOneAfterTheOther() async throws {
        let (old, new) = (Harness.marker + "old-secret", Harness.marker + "new-secret")
        try await World.with({
            $0.clients = [
                RegisteredClient(
                    id: "demo", authentication: .basic(secret: new), redirectURIs: [World.redirectURI])
            ]
        }) { world in
            let (oldFile, newFile) = (try world.harness.file("old", old), try world.harness.file("new", new + "\n"))
            let first = try await world.ok(
                "provider", "update", "acme", "--client-secret-file", oldFile, "--second-client-secret-file", newFile,
                "--yes")
            #expect(first.output.contains("clientAuthentication\tnone\tclient_secret_basic\n"))
            #expect(first.output.contains("clientSecrets\tnot shown (0 secrets)\tchanged (2 secrets)\n"))
            let grant = try #require(world.server.issueGrant(user: "dora", client: "demo"))
            let tokens = try world.harness.file("refresh", try #require(grant.refreshToken))
            let login = try await world.ok(
                "login", "add", "--user", "dora", "--provider", "acme", "--refresh-token-file", tokens
            ).line
            // The server takes the new one only. That is learnt without the refresh token, and the new one comes first.
            try await world.ok("login", "refresh", login)
            // Put behind the old one by hand, it is learnt again.
            try await world.ok("provider", "update", "acme", "--promote-client-secret", "--yes")
            try await world.ok("login", "refresh", login)
            let dropped = try await world.ok("provider", "update", "acme", "--drop-further-client-secrets", "--yes")
            #expect(dropped.output == "clientSecrets\tnot shown (2 secrets)\tchanged (1 secret)\n")
            try await world.ok("login", "refresh", login)
            let same = try await world.ok("provider", "update", "acme", "--client-secret-file", newFile, "--yes")
            #expect(same.output == "clientSecrets\tnot shown\tunchanged\n")
            let nothing = try await world.fails(
                .usage, "provider", "update", "acme", "--promote-client-secret", "--yes")
            #expect(nothing.error.contains("no second secret"))
        }
    }

    @Test func secretsEnterByFileInputDescriptorAndPrompt() async throws {
        try await World.with { world in
            let result = try await world.ok(
                ["provider", "update", "acme", "--client-secret", "-", "--yes"], input: Harness.marker + "one\n")
            #expect(result.output.contains("clientSecrets"))
            let script = """
                printf 'CANARY-two' >"$dir/two"; printf 'CANARY-three' >"$dir/three"
                "$vaultctl" provider update acme --client-secret-fd 3 --second-client-secret-fd 4 --yes \\
                  3<"$dir/two" 4<"$dir/three" || exit
                "$vaultctl" provider update acme --client-auth client_secret_post --yes
                """
            let shell = try await Program(harness: world.harness).shell(script)
            #expect(shell.status == 1)
            #expect(shell.error.contains("client_secret_post needs the client's secret"), "\(shell.error)")
            #expect(try await world.ok("provider", "show", "acme", "--json").json["clientSecretCount"] as? Int == 2)
            let terminal = try PseudoTerminal(
                ["provider", "update", "acme", "--client-auth", "client_secret_post"],
                environment: world.harness.environment)
            try await terminal.wait(for: "Client secret: ")
            #expect(!terminal.echoes)
            terminal.type("CANARY-four\n")
            try await terminal.wait(for: "[y/N] ")
            terminal.type("y\n")
            #expect(try await terminal.exitCode() == 0, "\(terminal.screen)")
            #expect(!terminal.screen.contains("CANARY"))
            #expect(try await Self.provider(world)["clientAuthentication"] == "client_secret_post")
        }
    }

    @Test func loginsAreNotCutOffUnlessForced() async throws {
        try await World.with { world in
            let login = try await world.logIn("alice")
            let elsewhere = ["provider", "update", "acme", "--client-id", "other", "--yes"]
            for options in [[], ["--dry-run"]] {
                let refused = try await world.harness.run(elsewhere + options)
                #expect(refused.status == 1)
                #expect(refused.error.contains("error: the tokens of 1 login would be sent to another server"))
                #expect(refused.error.contains("--force"))
                #expect(refused.output.isEmpty)
            }
            #expect(try await Self.provider(world)["clientId"] == "demo")
            try await world.ok("token", "get", login)
            let forced = try await world.ok(elsewhere + ["--force", "--json"])
            #expect(try forced.json["orphanedLogins"] as? Int == 1)
            #expect(forced.error.contains("warning"))
            #expect(try await Self.provider(world)["clientId"] == "other")
        }
    }

    @Test func theIssuerIsAskedAgain() async throws {
        try await World.with { world in
            let whole = try await Self.provider(world)
            try await world.ok(
                "provider", "update", "acme", "--authorization-endpoint", "https://old.example/authorize", "--remove",
                "revocation-endpoint", "--yes")
            #expect(try await Self.provider(world) != whole)
            let tested = try await world.ok("provider", "test", "acme")
            #expect(tested.output.contains("the metadata has a different authorization endpoint"))
            let result = try await world.ok("provider", "update", "acme", "--rediscover", "--yes")
            #expect(
                result.output.contains("authorizationEndpoint\thttps://old.example/authorize\t\(world.server.base)"))
            #expect(result.output.contains("revocationEndpoint\tnone\t\(world.server.base)"))
            #expect(try await Self.provider(world) == whole)
            let alias = try await world.harness.run(
                "provider", "update", "acme", "--issuer", world.server.issuer, "--allow-insecure-loopback", "--yes")
            #expect(alias.status == 0)
            let insecure = try await world.fails(.usage, "provider", "update", "acme", "--issuer", world.server.issuer)
            #expect(insecure.error.contains("--allow-insecure-loopback"))
            try await world.fails(.provider, "provider", "update", "acme", "--issuer", "https://127.0.0.1:1")
            try await world.ok("provider", "update", "acme", "--remove", "issuer", "--yes")
            let unknown = try await world.fails(.usage, "provider", "update", "acme", "--rediscover")
            #expect(unknown.error.contains("does not know this provider's issuer"))
        }
    }

    @Test func theProfileIsExchangedToo() async throws {
        try await World.with { world in
            try await world.ok("provider", "update", "acme", "--profile", "keycloak", "--yes")
            #expect(try await Self.provider(world)["profile"] == "keycloak")
            let own = try world.harness.file(
                "own.json", #"{"profile":1,"name":"own","source":[{"url":"u","read":"2026-01-31"}]}"#)
            let result = try await world.ok("provider", "update", "acme", "--profile-file", own, "--yes")
            #expect(result.output.hasPrefix("profile\tkeycloak\town\n"))
            let bad = try world.harness.file("bad.json", #"{"profile":1,"name":"bad","frobnicate":2}"#)
            let refused = try await world.fails(.usage, "provider", "update", "acme", "--profile-file", bad, "--yes")
            #expect(refused.error.contains("bad.json"))
            #expect(try await Self.provider(world)["profile"] == "own")
        }
    }

    @Test(arguments: [
        ([], "no change specified"), (["--client-secret=CANARY-x"], "does not accept a secret on the command line"),
        (["--second-client-secret", "CANARY-x"], "does not accept a secret on the command line"),
        (["--token-endpoint", "http://acme.example/token"], "neither https"),
        (["--remove", "token-endpoint"], "remove"),
        (["--scope", "a", "--remove", "scope"], "cannot be combined"),
        (["--rediscover", "--issuer", "https://a.example"], "--rediscover"),
        (["--promote-client-secret", "--drop-further-client-secrets"], "cannot be combined with other changes"),
        (["--client-auth", "magic", "--client-secret-file", "/dev/null"], "is not a client authentication method"),
        (["--client-auth", "none", "--client-secret-file", "/dev/null"], "does not use a client secret"),
        (["--profile", "nonesuch"], "no profile"),
        (["--drop-further-client-secrets"], "no further secrets: there is nothing to drop"),
        (["--client-id", ""], "--client-id is empty"),
        (["--second-client-secret-file", "/dev/null"], "no secret to add a second one to"),
        (["--dpop", "often"], "often"),
    ])
    func whatCannotBeIsRefusedAndChangesNothing(_ options: [String], _ words: String) async throws {
        let harness = try Harness()
        try await harness.run("init")
        try await harness.run(
            "provider", "add", "acme", "--client-id", "x", "--token-endpoint", "https://acme.example/token")
        let before = try await harness.run("provider", "show", "acme", "--json").output
        let result = try await harness.run(["provider", "update", "acme", "--yes"] + options)
        #expect(result.status == 1, "\(result.error)")
        #expect(result.error.contains(words), "\(result.error)")
        #expect(try await harness.run("provider", "show", "acme", "--json").output == before)
        #expect(try await harness.run("provider", "update", "nobody", "--scope", "a", "--yes").status == 2)
    }

    @Test func aClientSecretIsTakenFromAPrivateFileThatHoldsOne() async throws {
        let harness = try Harness()
        try await harness.run("init")
        try await harness.run(
            "provider", "add", "acme", "--client-id", "x", "--token-endpoint", "https://acme.example/token")
        let update = ["provider", "update", "acme", "--yes", "--client-secret-file"]
        let empty = try await harness.run(update + [harness.file("empty", "")])
        #expect(empty.status == 1 && empty.error.contains("is empty"), "\(empty.error)")
        let device = try await harness.run(update + ["/dev/null"])
        #expect(device.status == 1 && device.error.contains("is no regular file"), "\(device.error)")
    }
}
