import DevAuthorizationServer
import Foundation
import Glibc
import OAuthClient
import Testing
import VaultControl

/// `vaultctl provider profiles` and `provider test`
struct ProfileCommandTests {
    private static func profile(_ name: String, _ more: String = "") -> String {
        #"{"profile":1,"name":"\#(name)","source":[{"url":"https://a.example","read":"2026-01-31"}]\#(more)}"#
    }

    private static func findings(_ result: RunResult) throws -> [String] {
        let findings = try #require(try result.json["findings"] as? [[String: Any]])
        return findings.map { "\($0["missing"] as? Bool == true ? "missing" : "note"): \($0["text"] ?? "")" }
    }

    /// Bluesky's clients are registered nowhere.
    @Test func aClientThatIsItsDocumentIsTold() async throws {
        let harness = try Harness()
        #expect(try await harness.run("init").status == 0)
        let endpoints = [
            "--token-endpoint", "https://bsky.example/token", "--issuer", "https://bsky.example",
            "--authorization-endpoint", "https://bsky.example/authorize", "--client-auth", "none",
        ]
        for (name, id, words) in [
            ("b1", "app-1", "this id is none"), ("b2", "https://app.example/c.json", "what to serve there"),
        ] {
            let added = try await harness.run(
                ["provider", "add", name, "--profile", "bluesky", "--client-id", id] + endpoints)
            #expect(added.status == 0, "\(added.error)")
            #expect(added.error.contains(words) && added.error.contains("provider client-metadata \(name)"))
        }
    }

    @Test func theShippedProfilesAreListedWithoutAVault() async throws {
        let result = try await Harness().run("provider", "profiles", "--json", environment: [:])
        #expect(result.status == 0)
        let profiles = try #require(try result.json["profiles"] as? [[String: Any]])
        #expect(profiles.compactMap { $0["name"] as? String } == ProviderProfile.shipped.map(\.name))
        #expect(profiles.count >= 17)
        #expect(profiles.allSatisfy { $0["problem"] is NSNull && $0["file"] is NSNull })
        #expect(try await Harness().run("provider", "profiles").output.contains("google\t"))
    }

    @Test func aCatalogueBecomesProfiles() async throws {
        let harness = try Harness()
        let catalogue = try harness.file(
            "providers.yaml",
            """
            acme:
                display_name: Acme
                auth_mode: OAUTH2
                authorization_url: https://${connectionConfig.subdomain}.acme.example/authorize
                token_url: https://${connectionConfig.subdomain}.acme.example/token
                scope_separator: ','
                redirect_uri_metadata:
                    - realm
            keys:
                auth_mode: API_KEY
            """)
        let directory = harness.path("converted")
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
        let arguments = ["provider", "profiles", "convert", "--from", "nango", catalogue, "--to", directory, "--json"]
        let result = try await harness.run(arguments, environment: [:])
        #expect(result.status == 3, "\(result.error)")
        let rows = try #require(try result.json["profiles"] as? [[String: Any]])
        #expect(rows.map { $0["name"] as? String } == ["acme", "keys"])
        #expect(rows[0]["reason"] is NSNull && rows[1]["file"] is NSNull)
        let bytes = try #require(FileManager.default.contents(atPath: directory + "/acme.json"))
        let profile = try ProviderProfile(parsing: Array(bytes), file: "acme.json")
        #expect(profile.variables.map(\.name) == ["subdomain"])
        #expect(profile.notVerified.contains("refresh"))
        #expect(try await harness.run("provider", "profiles", "--dir", directory, environment: [:]).status == 0)
        // Nothing is overwritten.
        let again = try #require(
            try await harness.run(arguments, environment: [:]).json["profiles"] as? [[String: Any]])
        #expect(again[0]["file"] is NSNull && again[0]["reason"] is String)
        #expect(FileManager.default.contents(atPath: directory + "/acme.json") == bytes)
    }

    @Test func oneProfileIsShownWithWhatIsNotKnown() async throws {
        let harness = try Harness()
        let shown = try await harness.run("provider", "profiles", "shopify", "--json", environment: [:]).json
        #expect(shown["rotation"] as? String == "always")
        #expect(shown["variables"] as? [String] == ["shop"])
        #expect((shown["notVerified"] as? [String])?.isEmpty == false)
        #expect((shown["sources"] as? [[String: Any]])?.first?["url"] as? String != nil)
        let unknown = try await harness.run("provider", "profiles", "nobody", environment: [:])
        #expect(unknown.status != 0 && unknown.error.contains("nobody"))
    }

    /// A provider with an address for each customer, and a client secret that ends.
    @Test func aLogInBringsItsVariable() async throws {
        try await World.with { world in
            let file = try world.harness.file("secret", "CANARY-secret")
            try await world.ok(
                "provider", "add", "shops", "--profile", "shopify", "--client-id", "app-1", "--client-secret-file",
                file,
                "--redirect-uri", "https://app.example/callback", "--client-secret-expires", "20d")
            let without = try await world.harness.run("login", "begin", "--user", "u", "--provider", "shops")
            #expect(without.status != 0 && without.error.contains("shop") && without.error.contains("acme-store"))
            for wrong in ["shop=Acme", "shop=a.b", "shop=", "shop", "colour=red"] {
                let result = try await world.harness.run(
                    "login", "begin", "--user", "u", "--provider", "shops", "--variable", wrong)
                #expect(result.status != 0, "\(wrong)")
            }
            let begun = try await world.ok(
                "login", "begin", "--user", "u", "--provider", "shops", "--variable", "shop=acme", "--json"
            ).json
            let url = try #require(begun["url"] as? String)
            #expect(url.hasPrefix("https://acme.myshopify.com/admin/oauth/authorize?"))
            let doctor = try await world.harness.run("doctor", "--json")
            let findings = try #require(try doctor.json["findings"] as? [[String: Any]])
            let secret = try #require(findings.first { $0["check"] as? String == "clientSecret" })
            #expect(secret["level"] as? String == "warning")
            let updated = try await world.ok(
                "provider", "update", "shops", "--client-secret-expires", "2099-05-31", "--yes")
            #expect(updated.output.contains("\t2099-05-31T00:00:00Z\n"), "\(updated.output)")
            try await world.ok("provider", "update", "shops", "--remove", "client-secret-expires", "--yes")
            let shown = try await world.ok("provider", "show", "shops", "--json").json
            #expect(shown["clientSecretExpiresAt"] is NSNull)
        }
    }

    @Test func anEndpointOfEachLogInIsNotTested() async throws {
        try await World.with { world in
            let profile = try world.harness.file(
                "shops.json",
                """
                {"profile":2,"name":"shops","source":[{"url":"https://a.example","read":"2026-01-31"}],
                "variables":{"shop":{"says":"the shop's name","example":"acme-store"}}}
                """)
            let endpoint = "\(world.server.base)/{shop}/token"
            try await world.ok(
                "provider", "add", "shops", "--profile-file", profile, "--client-id", "c", "--client-auth", "none",
                "--token-endpoint", endpoint, "--authorization-endpoint", "https://a.example/authorize",
                "--allow-insecure-loopback")
            let findings = try Self.findings(try await world.ok("provider", "test", "shops", "--json"))
            let note = "note: not tested without a value of {shop}: token endpoint; with one: --variable shop="
            #expect(findings.contains(note + "acme-store"), "\(findings)")
            #expect(world.server.log.tokenRequests().isEmpty)
            // With a value, that address is asked, which this server does not have.
            let given = try await world.harness.run("provider", "test", "shops", "--variable", "shop=acme", "--json")
            #expect(given.status == 9)
            #expect(try Self.findings(given).contains { $0.contains("/acme/token, answers 404") }, "\(given.output)")
        }
    }

    /// A client that no longer has a secret has none that ends.
    @Test func theEndOfASecretGoesWithIt() async throws {
        try await World.with { world in
            let file = try world.harness.file("secret", "CANARY-secret")
            try await world.ok(
                "provider", "add", "p", "--client-id", "c", "--token-endpoint", "https://a.example/t",
                "--client-secret-file", file, "--client-secret-expires", "20d")
            try await world.ok("provider", "update", "p", "--client-auth", "none", "--yes")
            let shown = try await world.ok("provider", "show", "p", "--json").json
            #expect(shown["clientSecretExpiresAt"] is NSNull)
        }
    }

    /// Where a provider's secrets end, a new one gets its end without being asked.
    @Test func aNewSecretEndsWhenTheProfileSays() async throws {
        try await World.with { world in
            let file = try world.harness.file("secret", "CANARY-secret")
            let added = try await world.ok(
                "provider", "add", "spa", "--profile", "amazon-sp-api", "--client-id", "app-1", "--client-secret-file",
                file, "--json"
            ).json
            let end = try #require(added["clientSecretExpiresAt"] as? String)
            let date = try #require(try? Date(end, strategy: .iso8601))
            #expect(abs(date.timeIntervalSinceNow - 180 * 86_400) < 2 * 86_400)
        }
    }

    @Test func theClientsIdStandsInTheRevocationEndpoint() async throws {
        try await World.with { world in
            let file = try world.harness.file("secret", "CANARY-secret")
            let added = try await world.ok(
                "provider", "add", "code", "--profile", "github", "--client-id", "app-1", "--client-secret-file", file,
                "--json"
            ).json
            #expect(added["revocationEndpoint"] as? String == "https://api.github.com/applications/app-1/grant")
            let given = "https://api.example/{client_id}/grant"
            try await world.ok("provider", "update", "code", "--revocation-endpoint", given, "--yes")
            let shown = try await world.ok("provider", "show", "code", "--json").json
            #expect(shown["revocationEndpoint"] as? String == "https://api.example/app-1/grant")
        }
    }

    @Test func aDirectoryOfProfilesIsCheckedFileByFile() async throws {
        let harness = try Harness()
        let directory = harness.path("profiles")
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
        let empty = try await harness.run("provider", "profiles", "--dir", directory, "--json")
        #expect(empty.status == 0)
        #expect((try empty.json["profiles"] as? [Any])?.isEmpty == true)
        try harness.file("profiles/good.json", Self.profile("good"))
        try harness.file("profiles/notes.txt", "no profile")
        #expect(try await harness.run("provider", "profiles", "--dir", directory).status == 0)
        try harness.file("profiles/field.json", Self.profile("field", #","frobnicate":1"#))
        try harness.file("profiles/json.json", "{")
        try harness.file("profiles/limits.json", Self.profile("l", #","limits":{"timeoutSeconds":-1}"#))
        try harness.file("profiles/huge.json", String(repeating: " ", count: 70_000))
        let result = try await harness.run("provider", "profiles", "--dir", directory, "--json")
        #expect(result.status == 3)
        #expect(result.error.contains("4 of 5 profiles cannot be used"))
        // One document, though something is wrong.
        let profiles = try #require(try result.json["profiles"] as? [[String: Any]])
        let problems = Dictionary(
            uniqueKeysWithValues: profiles.map { ($0["file"] as? String ?? "", $0["problem"] as? String) })
        #expect(Set(problems.keys) == ["field.json", "good.json", "huge.json", "json.json", "limits.json"])
        #expect(problems["good.json"] == .some(nil))
        #expect(problems["field.json"]??.contains("frobnicate") == true)
        #expect(problems["limits.json"]??.contains("limits.timeoutSeconds") == true)
        let lines = try await harness.run("provider", "profiles", "--dir", directory)
        #expect(lines.status == 3)
        #expect(lines.output.split(separator: "\n").count == 5)
    }

    @Test(arguments: [
        ("{\"profile\": 1,\n \"name\": \"x\",\n}", "line 3, column 1 is not JSON"),
        ("{\"profile\": 1,\n \"name\": \"x\"\n \"title\": \"y\"}", "line 3, column 2 is not JSON"),
        ("{\"profile\": 1,\n \"näme\": x}", "line 2, column 10 is not JSON"),
        ("{\"profile\": 1,\n\n", "it ends too early, in line 3"),
        ("{}\n x", "more text after its end, in line 2, column 2"),
        ("[1]", "it must begin with {"), ("", "it is empty"), (" \n", "it is empty"),
        (String(repeating: "{\"a\":", count: 60), "it is nested too deeply"),
    ])
    func aMistakeInAFileIsShownByItsPlace(_ text: String, _ place: String) async throws {
        let harness = try await BadInputTests.filled()
        let file = try harness.file("p.json", text)
        let result = try await harness.run("provider", "add", "p", "--client-id", "c", "--profile-file", file)
        #expect(result.status == 1)
        #expect(result.error.contains("p.json is not a JSON object: "), "\(result.error)")
        #expect(result.error.contains(place), "\(result.error)")
    }

    @Test(arguments: ["2026-02-30", "2025-02-29", "2026-04-31", "2026-13-01", "2026-00-10", "26-01-01", "2026-01-31 "])
    func aDateOfASourceIsInTheCalendar(_ date: String) async throws {
        let harness = try await BadInputTests.filled()
        let file = try harness.file(
            "p.json", Self.profile("p").replacing(/"read": ?"[^"]*"/, with: "\"read\":\"\(date)\""))
        let result = try await harness.run("provider", "add", "p", "--client-id", "c", "--profile-file", file)
        #expect(result.status == 1)
        #expect(result.error.contains("source[0].read has a value that is not allowed"), "\(result.error)")
    }

    @Test func whatIsNoDirectoryIsToldAsSuch() async throws {
        let harness = try Harness()
        let file = try harness.file("file", "x")
        for (path, status, words) in [
            (harness.path("none"), 2, "there is no directory"), (file, 1, "is not a directory"),
        ] {
            let result = try await harness.run("provider", "profiles", "--dir", path)
            #expect(result.status == status)
            #expect(result.error.contains(words), "\(result.error)")
        }
    }

    @Test func aProviderThatFitsIsToldAsSuch() async throws {
        try await World.with { world in
            let result = try await world.ok("provider", "test", "acme", "--json")
            #expect(try result.json["hasMetadata"] as? Bool == true)
            #expect(try Self.findings(result).isEmpty)
            let words = try await world.ok("provider", "test", "acme")
            #expect(words.output.contains("metadata\tfound\n"))
            #expect(words.output.contains("token endpoint\t\(world.server.base)"))
            #expect(world.server.log.tokenRequests().isEmpty)
        }
    }

    @Test func whatDoesNotFitIsNamed() async throws {
        try await World.with { world in
            let file = try world.harness.file("one", Harness.marker + "one")
            let second = try world.harness.file("two", Harness.marker + "two")
            let own = try world.harness.file(
                "own.json",
                Self.profile("own", #","dpop":{"usage":"required"},"request":{"pushedAuthorization":"required"}"#))
            try await world.ok(
                "provider", "update", "acme", "--token-endpoint", world.server.base + "/old/token",
                "--allow-insecure-loopback", "--client-secret-file", file, "--second-client-secret-file", second,
                "--remove", "authorization-endpoint", "--remove", "pushed-authorization-endpoint", "--remove",
                "revocation-endpoint", "--yes")
            let result = try await world.harness.run("provider", "test", "acme", "--json")
            #expect(result.status == 9)
            #expect(result.error.contains("cannot be used as it is"))
            #expect(result.error.contains("vaultctl provider update acme"))
            let findings = try Self.findings(result)
            #expect(findings.contains("missing: no authorization endpoint, so no user can log in"))
            #expect(findings.contains("note: no revocation endpoint, so logging out cannot end its grants"))
            #expect(findings.contains { $0.hasPrefix("note: 2 client secrets") })
            #expect(findings.contains { $0.hasPrefix("note: the metadata has a different token endpoint: ") })
            try await world.ok("provider", "update", "acme", "--profile-file", own, "--yes")
            let bound = try Self.findings(try await world.harness.run("provider", "test", "acme", "--json"))
            #expect(bound.contains("missing: the profile requires DPoP, but this provider was added without it"))
            #expect(bound.contains("missing: the profile requires pushed requests, but their endpoint is unknown"))
            try await world.ok("provider", "update", "acme", "--rediscover", "--dpop", "required", "--yes")
            let mended = try await world.ok("provider", "test", "acme", "--json")
            #expect(try Self.findings(mended).allSatisfy { $0.hasPrefix("note: ") })
        }
    }

    @Test func aMethodThatTheProviderDoesNotTakeIsMissing() async throws {
        try await World.with { world in
            let key = try world.harness.file(
                "key.pem",
                """
                -----BEGIN PRIVATE KEY-----
                MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgevZzL1gdAFr88hb2
                OF/2NxApJCzGCEDdfSp6VQO30hyhRANCAAQRWz+jn65BtOMvdyHKcvjBeBSDZH2r
                1RTwjmYSi9R/zpBnuQ4EiMnCqfMPWiZqB4QdbAd0E7oH50VpuZ1P087G
                -----END PRIVATE KEY-----
                """)
            // What others may read is no secret: the client's key neither.
            #expect(unsafe chmod(key, 0o644) == 0)
            let adding = ["add", "other", "--client-id", "c", "--token-endpoint", "https://other.example/token"]
            for command in [["update", "acme", "--yes"], adding] {
                let exposed = try await world.harness.run(["provider"] + command + ["--client-key-file", key])
                #expect(exposed.status == 10 && exposed.error.contains("chmod 600"), "\(exposed.error)")
            }
            #expect(unsafe chmod(key, 0o600) == 0)
            try await world.ok("provider", "update", "acme", "--client-key-file", key, "--client-key-id", "k1", "--yes")
            let shown = try await world.ok("provider", "show", "acme", "--json").json
            #expect(shown["clientAuthentication"] as? String == "private_key_jwt")
            try await world.ok("provider", "test", "acme")
            let refused = try await world.fails(
                .usage, "provider", "update", "acme", "--client-auth", "client_secret_basic", "--yes")
            #expect(refused.error.contains("needs the client's secret"))
        }
    }

    @Test func providerTestWithoutAnIssuerSkipsMetadata() async throws {
        let harness = try Harness()
        try await harness.run("init")
        try await harness.run(
            "provider", "add", "byhand", "--client-id", "c", "--token-endpoint", "https://127.0.0.1:1/token",
            "--authorization-endpoint", "https://127.0.0.1:1/authorize")
        let byHand = try await harness.run("provider", "test", "byhand", "--json")
        // Its token endpoint is: nobody listens there.
        #expect(byHand.status == 9)
        #expect(try byHand.json["hasMetadata"] as? Bool == false)
        let output = try await harness.run("provider", "test", "byhand").output
        #expect(output.contains("metadata\tnot fetched: no issuer\n"))
        try await harness.run(
            "provider", "update", "byhand", "--issuer", "https://127.0.0.1:1", "--token-endpoint",
            "https://127.0.0.1:1/token", "--yes")
        let unreachable = try await harness.run("provider", "test", "byhand", "--json")
        #expect(unreachable.status == 9)
        #expect((try unreachable.json["error"] as? [String: Any])?["code"] as? String == "discoveryFailed")
        let unknown = try await harness.run("provider", "test", "nobody")
        #expect(unknown.status == 2)
    }

    @Test func furtherClientSecretsAreKeptInOrderAndNeverShown() async throws {
        let harness = try Harness()
        try await harness.run("init")
        let files = try ["one", "two", "three"].map { try harness.file($0, Harness.marker + $0 + "\n") }
        let added = try await harness.run(
            "provider", "add", "acme", "--client-id", "c", "--token-endpoint", "https://acme.example/token",
            "--client-secret-file", files[0], "--second-client-secret-file", files[1], "--second-client-secret-file",
            files[2], "--json")
        #expect(added.status == 0, "\(added.error)")
        #expect(try added.json["clientSecretCount"] as? Int == 3)
        #expect(try await harness.run("provider", "show", "acme").output.contains("client secrets\t3\n"))
        // The second has come to the front: to give it again as the first changes nothing of the order.
        let promoted = try await harness.run("provider", "update", "acme", "--promote-client-secret", "--yes")
        #expect(promoted.status == 0)
        let same = try await harness.run(
            "provider", "update", "acme", "--client-secret-file", files[1], "--second-client-secret-file", files[2],
            "--second-client-secret-file", files[0], "--yes", "--json")
        #expect((try same.json["changes"] as? [Any])?.isEmpty == true, "\(same.output)")
        let missing = try await harness.run(
            "provider", "add", "other", "--client-id", "c", "--token-endpoint", "https://acme.example/token",
            "--client-secret-file", files[0], "--second-client-secret-file", harness.path("none"))
        #expect(missing.status == 2)
        #expect(missing.error.contains("second client secret"))
        let public_ = try await harness.run(
            "provider", "add", "other", "--client-id", "c", "--token-endpoint", "https://acme.example/token",
            "--second-client-secret-file", files[1])
        #expect(public_.status == 1, "\(public_.output)")
        #expect(try await harness.run("provider", "list").output.split(separator: "\n").count == 1)
    }
}
