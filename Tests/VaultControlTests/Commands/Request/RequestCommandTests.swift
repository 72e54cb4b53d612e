import DevAuthorizationServer
import Foundation
import RawSockets
import Testing
import VaultAdministration
import VaultControl

/// `vaultctl request` at a real resource server.
struct RequestCommandTests {
    private static func request(_ world: World, _ path: String = "/resource", _ options: String...) -> [String] {
        ["request", world.server.base + path, "--user", "alice", "--allow-insecure-loopback"] + options
    }

    private static func outcomes(_ world: World) -> [String] {
        world.server.log.records.filter { $0.path == "/resource" }.map(\.outcome)
    }

    @Test func theBodyIsTheOutput() async throws {
        try await World.with { world in
            let login = try await world.logIn("alice")
            let result = try await world.ok(Self.request(world))
            let reply = try result.json
            #expect(reply["user"] as? String == "alice")
            #expect(reply["token_type"] as? String == "Bearer")
            #expect(result.error.isEmpty)
            let byLogin = try await world.ok(
                "request", world.server.base + "/resource", "--login", login, "--allow-insecure-loopback", "--include")
            #expect(byLogin.output.hasPrefix("HTTP/1.1 200\n"))
            #expect(byLogin.output.lowercased().contains("\ncontent-type: application/json"))
            #expect(byLogin.output.contains("\n\n{"))
            let document = try await world.ok(Self.request(world, "/resource", "--json")).json
            #expect(document["status"] as? Int == 200)
            #expect((document["body"] as? String)?.contains("alice") == true)
            #expect(document["bodyBase64"] is NSNull)
            #expect((document["headers"] as? [[String: String]])?.isEmpty == false)
        }
    }

    @Test func theLimitThatWasExceededIsNamed() async throws {
        try await World.with { world in
            try await world.logIn("alice")
            var fault = Fault.delay(.seconds(60))
            fault.path = "/resource"
            world.server.faults.add(fault)
            let slow = try await world.harness.run(Self.request(world, "/resource", "--timeout", "1s"))
            #expect(slow.status == 9 && slow.error.contains("came in 1 s (--timeout)"), "\(slow.error)")
            #expect(slow.error.contains("hint: if it needs longer, allow that: --timeout "), "\(slow.error)")
        }
    }

    /// A server whose every reply brings a new nonce, and that takes none twice.
    @Test func aBoundTokenGoesWithAProofAndTheServersNonce() async throws {
        try await World.with({ $0.noncePolicy = .requiredOnce }) { world in
            try await world.logIn("alice", "--dpop")
            let reply = try await world.ok(Self.request(world)).json
            #expect(reply["token_type"] as? String == "DPoP")
            #expect(Self.outcomes(world) == ["use_dpop_nonce", "ok"])
        }
    }

    @Test func aRefusedTokenIsRenewedOnce() async throws {
        try await World.with { world in
            try await world.logIn("alice")
            world.server.expireAccessTokens(user: "alice")
            let before = world.refreshes
            #expect(try await world.ok(Self.request(world)).json["user"] as? String == "alice")
            #expect(Self.outcomes(world) == ["invalid_token", "ok"])
            #expect(world.refreshes == before + 1)
            // One that no new token pleases is asked twice, and no more.
            var fault = Fault.status(
                401, headers: ["WWW-Authenticate": "Bearer error=\"invalid_token\""], body: "no")
            (fault.path, fault.times) = ("/resource", 0)
            world.server.faults.add(fault)
            let result = try await world.harness.run(Self.request(world))
            #expect(result.status == 9)
            #expect(result.output == "no")
            #expect(result.error.contains("vaultctl: error: the server answered with status 401"))
            #expect(world.refreshes == before + 2)
        }
    }

    @Test func aStatusFrom400OnIsAFailureWithItsBody() async throws {
        try await World.with { world in
            try await world.logIn("alice")
            let text = try await world.harness.run(Self.request(world, "/nothing-here", "-i"))
            #expect(text.status == 9)
            #expect(text.output.hasPrefix("HTTP/1.1 404\n"))
            let document = try await world.harness.run(Self.request(world, "/nothing-here", "--json"))
            #expect(document.status == 9)
            #expect(try document.json["status"] as? Int == 404)
        }
    }

    /// Who names the URL can read the token there.
    @Test func eachUseIsAudited() async throws {
        try await World.with { world in
            try await world.logIn("alice")
            let rows = {
                try await world.ok("audit", "list", "--kind", "tokenRevealed", "--json").output
                    .split(separator: "\n").count
            }
            #expect(try await rows() == 0)
            try await world.ok(Self.request(world))
            #expect(try await rows() == 1)
        }
    }

    @Test func whatCannotGoOutIsRefusedBeforeATokenIsFetched() async throws {
        try await World.with { world in
            try await world.logIn("alice")
            let resource = world.server.base + "/resource"
            let cases: [(arguments: [String], words: String)] = [
                ([resource, "--user", "alice"], "a token goes to https URLs only"),
                (["http://api.example/", "--user", "alice", "--allow-insecure-loopback"], "https URLs only"),
                (["https://alice:pw@api.example/", "--user", "alice"], "the URL names a user"),
                (["https://api.example/a b", "--user", "alice"], "not a URL to which a request can go"),
                (["/me", "--user", "alice"], "not a URL to which a request can go"),
                (["https://api.example/"], "no login specified"),
                (["https://api.example/", "--user", "a", "--login", "b"], "cannot be combined"),
                (["https://api.example/", "--user", "a", "-X", "TRACE"], "--method TRACE is not possible"),
                (["https://api.example/", "--user", "a", "-X", "GE T"], "is not possible"),
                (["https://api.example/", "--user", "a", "-H", "Authorization: Bearer x"], "Authorization itself"),
                (["https://api.example/", "--user", "a", "-H", "dpop: x"], "dpop itself"),
                (["https://api.example/", "--user", "a", "-H", "CANARY-value"], "not of the form"),
                (["https://api.example/", "--user", "a", "-H", "X: a\r\nY: b"], "has a character that is not allowed"),
                (["https://api.example/", "--user", "a", "-H", "@-", "-d", "@-"], "cannot be combined"),
                (["https://api.example/", "--user", "a", "-d", "@/no/such/file"], "cannot be read from /no/such/file"),
                (["https://api.example/", "--user", "a", "--timeout", "0"], "--timeout must be greater than zero"),
            ]
            for (arguments, words) in cases {
                let result = try await world.harness.run(["request"] + arguments)
                #expect((1...2).contains(result.status), "\(arguments): \(result.status)")
                #expect(result.error.contains(words), "\(arguments): \(result.error)")
            }
            #expect(Self.outcomes(world).isEmpty)
        }
    }

    @Test func anOriginThatIsNotAllowedGetsNoToken() async throws {
        try await World.with(provider: ["--api-origin", "https://*.acme.example"]) { world in
            try await world.logIn("alice")
            let requests = world.server.log.records.count
            let refused = try await world.fails(.usage, Self.request(world, "/resource", "--json"))
            let error = try #require(try refused.json["error"] as? [String: Any])
            #expect(error["code"] as? String == "originNotAllowed")
            let hints = try #require(error["hints"] as? [String])
            #expect(hints.contains { $0.contains("stranger") } && !hints.contains { $0.contains(world.server.base) })
            #expect(world.server.log.records.count == requests)
            #expect(try await world.ok("audit", "list", "--kind", "tokenRevealed", "--json").output.isEmpty)
            try await world.ok(
                "provider", "update", "acme", "--api-origin", world.server.base, "--allow-insecure-loopback", "--yes")
            #expect(try await world.ok(Self.request(world)).json["user"] as? String == "alice")
        }
    }

    @Test func aServerThatIsNotThereIsTheNetworksFault() async throws {
        try await World.with { world in
            try await world.logIn("alice")
            let port = try RawServer.unusedPort()
            let result = try await world.harness.run(
                "request", "http://127.0.0.1:\(port)/", "--user", "alice", "--allow-insecure-loopback", "--json")
            #expect(result.status == 9)
            let error = try #require(try result.json["error"] as? [String: Any])
            #expect(error["code"] as? String == "network")
            #expect(error["message"] as? String == "the connection was refused or failed, nothing was sent")
        }
    }

    /// The pages and the help show this way for other programs.
    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/curl")))
    func curlReadsTheTokenFromItsInput() async throws {
        try await World.with { world in
            try await world.logIn("alice")
            let result = try await Program(harness: world.harness).shell(
                """
                "$vaultctl" token get --user alice --reveal | sed 's/^/Authorization: Bearer /' \\
                  | curl -sS -H @- \(world.server.base)/resource
                """)
            #expect(try result.json["user"] as? String == "alice", "\(result.error)")
        }
    }

    @Test func verboseShowsTheRequestWithoutItsQuery() async throws {
        try await World.with { world in
            try await world.logIn("alice")
            let result = try await world.ok(Self.request(world, "/resource?key=CANARY-x", "--verbose"))
            let line = result.error.split(separator: "\n").first { $0.contains("/resource") }
            #expect(line?.hasPrefix("vaultctl: request: GET \(world.server.base)/resource (") == true)
            #expect(line?.hasSuffix(": 200") == true)
        }
    }
}
