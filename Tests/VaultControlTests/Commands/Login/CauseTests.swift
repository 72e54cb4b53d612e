import DevAuthorizationServer
import Foundation
import TestCertificates
import TestSupport
import Testing
import VaultAdministration
import VaultControl

/// Why a renewal brought nothing is told with the option that helps: on the terminal, as JSON, and with the login.
struct CauseTests {
    /// Renews alice's login in vain, as text and as JSON, and gives the JSON error and what is kept with the login.
    private func fail(
        _ world: World, _ hint: String, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> (error: [String: Any], refusal: [String: Any]?) {
        let text = try await world.harness.run("login", "refresh", "--user", "alice")
        #expect(
            text.status == VaultControl.ExitStatus.provider.rawValue, "\(text.error)", sourceLocation: sourceLocation)
        #expect(text.error.contains("hint: \(hint)"), "\(text.error)", sourceLocation: sourceLocation)
        let json = try await world.harness.run("login", "refresh", "--user", "alice", "--json").json
        let error = try #require(json["error"] as? [String: Any], sourceLocation: sourceLocation)
        let hints = error["hints"] as? [String] ?? []
        #expect(hints.first?.hasPrefix(hint) == true, "\(hints)", sourceLocation: sourceLocation)
        let shown = try await world.ok("login", "show", "--user", "alice", "--json").json
        return (error, shown["lastRefusal"] as? [String: Any])
    }

    private func point(_ world: World, at endpoint: String) async throws {
        try await world.ok("provider", "update", "acme", "--token-endpoint", endpoint, "--force", "--yes")
    }

    @Test(arguments: [
        ("https://127.0.0.1:1/token", "connect", "check the network, and the token endpoint: vaultctl provider show"),
        ("https://nowhere.invalid/token", "dns", "check the host of the token endpoint: vaultctl provider show"),
    ])
    func nothingIsReached(endpoint: String, cause: String, hint: String) async throws {
        try await World.with { world in
            try await world.logIn("alice")
            try await point(world, at: endpoint)
            let told = try await fail(world, hint)
            #expect(told.error["cause"] as? String == cause)
            #expect(told.refusal?["failure"] as? String == cause)
            // A proxy that other programs use is named beside it, and replaces nothing.
            var environment = world.harness.environment
            environment["HTTPS_PROXY"] = "http://proxy.example:3128"
            let proxied = try await world.harness.run(
                ["login", "refresh", "--user", "alice"], environment: environment)
            #expect(proxied.error.contains("hint: \(hint)") && proxied.error.contains("use --proxy URL"))
        }
    }

    @Test func aCertificateThatNobodyKnows() async throws {
        let own = try TestCertificate("localhost", hosts: ["localhost"])
        try await own.withFile { path in
            let listener = try TLSListener(certificate: own.pem, key: own.keyPEM)
            try await World.with({ $0.tls = listener }) { world in
                try await world.logIn("alice")
                try await point(world, at: try #require(world.server.secureBase) + "/token")
                let told = try await fail(world, "for a private authority: --ca-file FILE")
                #expect(told.error["cause"] as? String == "tls")
                #expect(told.refusal?["failure"] as? String == "tls")
                // The option that was named helps, once the pause after the failures is over.
                let renewing = ["login", "refresh", "--user", "alice", "--ca-file", path]
                try await eventually { try await world.harness.run(renewing).status == 0 }
                #expect(try await world.ok("login", "show", "--user", "alice", "--json").json["lastRefusal"] is NSNull)
            }
        }
    }

    @Test func aRedirectNamesItsTarget() async throws {
        try await World.with { world in
            try await world.logIn("alice")
            let target = "https://login.acme.example/oauth2/token"
            world.server.faults.add(.status(308, headers: ["Location": target + "?key=secret"]).times(10))
            let told = try await fail(
                world, "if the provider has moved: vaultctl provider update acme --token-endpoint \(target)")
            #expect(told.refusal?["location"] as? String == target)
            #expect(told.refusal?["status"] as? Int == 308)
            let shown = try await world.ok("login", "show", "--user", "alice").output
            #expect(shown.contains("the token endpoint redirected, before") && !shown.contains("key=secret"))
        }
    }

    /// State, answer and next step agree, also where the reason is no OAuth error code.
    @Test func aRefusalWithoutAReasonIsOne() async throws {
        try await World.with { world in
            try await world.logIn("alice")
            world.server.faults.add(.status(400, body: #"{"error":5}"#).times(10))
            try await world.fails(.provider, "login", "refresh", "--user", "alice")
            let shown = try await world.ok("login", "show", "--user", "alice", "--json").json
            #expect(shown["isRefused"] as? Bool == true)
            #expect((shown["lastRefusal"] as? [String: Any])?["answer"] as? String == "400")
            let words = try await world.ok("login", "show", "--user", "alice").output
            #expect(words.contains("next step\tfind out why the provider refuses it"), "\(words)")
        }
    }

    /// What `--token-endpoint` would refuse is not recommended.
    @Test(arguments: [
        ("http://elsewhere.example/token", "it redirects to plain http on another machine, which is refused; check"),
        (
            "http://127.0.0.1:1/token",
            "if the provider has moved: vaultctl provider update acme --token-endpoint "
                + "http://127.0.0.1:1/token --allow-insecure-loopback"
        ),
        ("/moved", "check the token endpoint: vaultctl provider show acme"),
    ])
    func aRedirectToPlainHTTP(target: String, hint: String) async throws {
        try await World.with { world in
            try await world.logIn("alice")
            world.server.faults.add(.status(302, headers: ["Location": target]).times(10))
            _ = try await fail(world, hint)
        }
    }

    @Test func aServerThatIsTooSlow() async throws {
        try await World.with { world in
            try await world.logIn("alice")
            let profile = try world.harness.file(
                "slow.json",
                #"{"profile":1,"name":"slow","source":[{"url":"u","read":"2026-11-27"}],"limits":{"connectSeconds":1,"timeoutSeconds":1}}"#
            )
            try await world.ok("provider", "update", "acme", "--profile-file", profile, "--yes")
            world.server.faults.add(.delay(.seconds(60)).times(10))
            let told = try await fail(world, "check the network, and the token endpoint: vaultctl provider show")
            #expect(told.error["cause"] as? String == "timeout")
            #expect(told.refusal?["failure"] as? String == "timeout")
        }
    }

    /// What the server says of an assertion's audience decides about the hint, not its code alone.
    @Test func theAudienceOfAnAssertion() async throws {
        try await World.with { world in
            try await world.logIn("alice")
            let words = #"{"error":"invalid_client","error_description":"the audience of the assertion is wrong"}"#
            world.server.faults.add(
                .status(401, headers: ["Content-Type": "application/json"], body: words).times(10))
            let refused = try await world.harness.run("login", "refresh", "--user", "alice")
            let hint = "another audience of the signed assertion: vaultctl provider update acme --assertion-audience"
            #expect(refused.error.contains(hint), "\(refused.error)")
            #expect(!refused.error.contains("client_secret_post"))
            let shown = try await world.ok("login", "show", "--user", "alice", "--json").json
            let refusal = shown["lastRefusal"] as? [String: Any]
            #expect((refusal?["answer"] as? String)?.contains("the audience of the assertion is wrong") == true)
        }
    }

    /// Programs do not read warnings, so the document says it, too.
    @Test func keysThatCannotBeReadAreTold() async throws {
        try await World.with(provider: ["--scope", "openid"]) { world in
            func logIn() async throws -> RunResult {
                let url = try await world.ok("login", "begin", "--user", "alice", "--provider", "acme").line
                return try await world.complete(Browser.visit(url), ["--json"])
            }
            #expect(try await logIn().json["isSignatureChecked"] as? Bool == true)
            var fault = Fault.status(200, headers: ["Content-Type": "application/json"], body: "no keys")
            (fault.path, fault.times) = ("/jwks", 0)
            world.server.faults.add(fault)
            let unchecked = try await logIn()
            #expect(try unchecked.json["isSignatureChecked"] as? Bool == false)
            #expect(unchecked.error.contains("signing keys cannot be read"), "\(unchecked.error)")
            let grant = try #require(world.server.issueGrant(user: "bob"))
            let added = try await world.ok(
                ["login", "add", "--user", "bob", "--provider", "acme", "--refresh-token", "-", "--json"],
                input: try #require(grant.refreshToken)
            ).json
            #expect(added["isSignatureChecked"] == nil)
        }
    }

    @Test func aClockThatIsOff() async throws {
        try await World.with(provider: ["--scope", "openid"]) { world in
            world.server.skewClock(by: .seconds(-100_000))
            let url = try await world.ok("login", "begin", "--user", "alice", "--provider", "acme").line
            let refused = try await world.harness.run(
                ["login", "complete", "--callback-url", "-"], input: try await Browser.visit(url))
            #expect(refused.status == VaultControl.ExitStatus.provider.rawValue)
            #expect(refused.error.contains("clock"), "\(refused.error)")
            #expect(!refused.error.contains("client id"), "\(refused.error)")
        }
    }
}
