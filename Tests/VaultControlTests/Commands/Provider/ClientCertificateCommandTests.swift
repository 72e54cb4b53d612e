import DevAuthorizationServer
import Foundation
import Testing
import TestCertificates
import TokenVault
import VaultAdministration
import VaultControl

/// `--client-certificate`, and what `doctor` says of it.
struct ClientCertificateCommandTests {
    /// A server with a TLS listener, and clients that it knows by these certificates.
    private static func with(
        _ certificate: TestCertificate, bound: Bool = true, _ body: (World, _ trusting: [String]) async throws -> Void
    ) async throws {
        let own = try TestCertificate("localhost", hosts: ["localhost"])
        let registered = try #require(RegisteredCertificate(certificate.pem))
        try await own.withFile { path in
            let listener = try TLSListener(certificate: own.pem, key: own.keyPEM)
            try await World.with { configuration in
                configuration.tls = listener
                configuration.clients.append(
                    RegisteredClient(
                        id: "bank", authentication: .selfSignedCertificate([registered]),
                        redirectURIs: [World.redirectURI], bindsTokensToCertificate: bound))
            } _: { world in
                try await body(world, ["--ca-file", path])
            }
        }
    }

    private static func files(
        _ certificate: TestCertificate, _ name: String, _ harness: Harness
    ) throws -> [String] {
        [
            "--client-certificate", try harness.file("\(name).pem", certificate.pem),
            "--client-certificate-key", try harness.file("\(name).key", certificate.keyPEM),
        ]
    }

    @Test func clientWithACertificateWorksFromLogInToLogOut() async throws {
        let certificate = try TestCertificate("bank")
        try await Self.with(certificate) { world, trusting in
            let files = try Self.files(certificate, "bank", world.harness)
            try await world.ok(
                [
                    "provider", "add", "bank", "--issuer", world.server.issuer, "--client-id", "bank", "--scope",
                    "read",
                    "--redirect-uri", World.redirectURI, "--allow-insecure-loopback",
                ] + files)
            let shown = try await world.ok("provider", "show", "bank", "--json").json
            #expect(shown["clientAuthentication"] as? String == "self_signed_tls_client_auth")
            #expect(shown["bindsTokensToCertificate"] as? Bool == true)
            #expect((shown["certificateThumbprint"] as? String)?.count == 43)
            #expect(shown["certificateExpiresAt"] is String)
            let base = try #require(world.server.secureBase)
            #expect(shown["tokenEndpoint"] as? String == base + "/token")
            let url = try await world.ok("login", "begin", "--user", "alice", "--provider", "bank").line
            let callback = try await Browser.visit(url)
            try await world.complete(callback, trusting)
            try await world.ok(["login", "refresh", "--user", "alice"] + trusting)
            let reply = try await world.ok(["request", base + "/resource", "--user", "alice"] + trusting)
            #expect(reply.output.contains("alice"))
            try await world.ok(["login", "end", "--user", "alice", "--yes"] + trusting)
            #expect(
                world.server.log.records.suffix(3).map { "\($0.path) \($0.outcome)" } == [
                    "/token ok", "/resource ok", "/revoke ok",
                ])
        }
    }

    @Test func whatDoesNotFitTogetherIsRefused() async throws {
        let (one, other) = (try TestCertificate("one"), try TestCertificate("other"))
        try await World.with { world in
            let adding = ["provider", "add", "bank", "--client-id", "c", "--token-endpoint", "https://a.example/token"]
            let certificate = try Self.files(one, "one", world.harness)
            let stranger = try Self.files(other, "other", world.harness)
            let mixed = Array(certificate[..<2]) + stranger[2...]
            #expect(try await world.fails(.usage, adding + mixed).error.contains("does not belong to it"))
            #expect(
                try await world.fails(.usage, adding + certificate[..<2]).error.contains("given together"))
            #expect(
                try await world.fails(.usage, adding + ["--client-auth", "tls_client_auth"]).error
                    .contains("--client-certificate PATH"))
            // What others may read is no secret.
            #expect(unsafe chmod(certificate[3], 0o644) == 0)
            #expect(try await world.fails(.machine, adding + certificate).error.contains("chmod 600"))
            #expect(unsafe chmod(certificate[3], 0o600) == 0)
            try await world.ok(adding + certificate)
            let update = ["provider", "update", "bank", "--yes"]
            let changed = try await world.ok(update + stranger)
            #expect(changed.output == "clientCertificate\tnot shown\tchanged\n")
            // The certificate alone may stand beside another method, for the tokens.
            let secret = try world.harness.file("secret", "CANARY-secret")
            try await world.ok(update + ["--client-secret-file", secret, "--certificate-bound-tokens"])
            let shown = try await world.ok("provider", "show", "bank", "--json").json
            #expect(shown["clientAuthentication"] as? String == "client_secret_basic")
            #expect(shown["certificateThumbprint"] is String)
            try await world.ok(update + ["--no-certificate-bound-tokens", "--remove", "client-certificate"])
            #expect(try await world.ok("provider", "show", "bank", "--json").json["certificateThumbprint"] is NSNull)
        }
    }

    /// Nothing listens at its token endpoint, either.
    @Test func expiredCertificateIsWarnedAboutAndMissing() async throws {
        let now = Date()
        let certificate = try TestCertificate(
            "bank", validity: now.addingTimeInterval(-86_400 * 10)...now.addingTimeInterval(-86_400 * 3))
        let harness = try Harness()
        try await harness.run("init")
        let adding = ["provider", "add", "bank", "--client-id", "c", "--token-endpoint", "https://127.0.0.1:1/token"]
        let options = try Self.files(certificate, "bank", harness)
        let warning = "warning: the client certificate expired 3 days ago"
        #expect(try await harness.run(adding + options + ["--dry-run"]).error.contains(warning))
        let added = try await harness.run(adding + options)
        #expect(added.status == 0 && added.error.contains(warning), "\(added.error)")
        let tested = try await harness.run("provider", "test", "bank", "-v")
        #expect(tested.status == 9)
        #expect(tested.output.contains("missing\tthe client certificate expired 3 days ago"), "\(tested.output)")
        #expect(tested.output.contains("/token, cannot be reached: "), "\(tested.output)")
        #expect(tested.error.contains("request: POST https://127.0.0.1:1/token"), "\(tested.error)")
        let removed = try await harness.run("provider", "update", "bank", "--remove", "client-certificate", "--yes")
        #expect(removed.status == 1)
        #expect(removed.error.contains("the client authenticates with this certificate"), "\(removed.error)")
    }

    @Test func certificateOfAnotherClientKeyIsRefused() async throws {
        let (one, other) = (try TestCertificate("one"), try TestCertificate("other"))
        let harness = try Harness()
        try await harness.run("init")
        let mixed = try harness.file("mixed.pem", one.keyPEM + "\n" + other.pem)
        let refused = try await harness.run(
            "provider", "add", "p", "--client-id", "c", "--issuer", "https://a.example", "--token-endpoint",
            "https://a.example/token", "--client-key-file", mixed)
        #expect(refused.status == 1)
        #expect(refused.error.contains("the key of the client certificate does not belong to it"), "\(refused.error)")
    }

    /// An assertion for the token endpoint needs no issuer, and one for the issuer does.
    @Test(arguments: [("token-endpoint", 0), ("issuer", 1)])
    func audienceOfTheTokenEndpointNeedsNoIssuer(_ audience: String, _ status: Int32) async throws {
        let harness = try Harness()
        try await harness.run("init")
        let key = try harness.file("client.pem", TestCertificate("client").keyPEM)
        let added = try await harness.run(
            "provider", "add", "p", "--client-id", "c", "--token-endpoint", "https://a.example/token",
            "--client-key-file", key, "--assertion-audience", audience)
        #expect(added.status == status, "\(added.error)")
        #expect(status == 0 || added.error.contains("private_key_jwt needs the provider's issuer"))
    }

    @Test(arguments: [(400, "ok"), (31, "ok"), (29, "warning"), (-1, "problem")])
    func doctorWarnsBeforeTheEnd(_ days: Int, _ level: String) async throws {
        let now = Date()
        let certificate = try TestCertificate(
            "bank",
            validity: now.addingTimeInterval(-86_400 * 10)...now.addingTimeInterval(Double(days) * 86_400 + 3_600))
        let harness = try Harness()
        try await harness.run("init")
        let added = try await harness.run(
            ["provider", "add", "bank", "--client-id", "c", "--token-endpoint", "https://a.example/token"]
                + Self.files(certificate, "bank", harness))
        #expect(added.status == 0, "\(added.error)")
        let report = try await harness.run("doctor", "--json").json
        let findings = try #require(report["findings"] as? [[String: Any]])
        let found = try #require(findings.first { $0["check"] as? String == "certificate" })
        #expect(found["level"] as? String == level)
        #expect(found["subject"] as? String == "bank")
    }

    @Test func theProxyIsNamedAndItsCredentialsAreAFile() async throws {
        try await World.with { world in
            // Nothing listens there: plain http to this machine does not go through it.
            try await world.ok("provider", "test", "acme", "--proxy", "http://127.0.0.1:1")
            let https = ["provider", "add", "p", "--client-id", "c", "--issuer", "https://as.example"]
            let refused = try await world.fails(.provider, https + ["--proxy", "http://127.0.0.1:1"])
            #expect(refused.error.contains("the connection was refused"))
            let inURL = try await world.fails(.usage, https + ["--proxy", "http://user:CANARY@127.0.0.1:1"])
            #expect(inURL.error.contains("--proxy-credentials-file"))
            #expect(!inURL.error.contains("CANARY"))
            #expect(
                try await world.fails(.usage, https + ["--proxy", "127.0.0.1:1"]).error.contains("http://HOST:PORT"))
            let file = try world.harness.file("proxy", "user-without-password")
            #expect(
                try await world.fails(
                    .usage, https + ["--proxy", "http://127.0.0.1:1", "--proxy-credentials-file", file]
                ).error.contains("USER:PASSWORD"))
            #expect(
                try await world.fails(.usage, https + ["--proxy-credentials-file", file]).error.contains("--proxy URL"))
        }
    }
}
