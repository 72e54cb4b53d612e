import DevAuthorizationServer
import Foundation
import HTTPTypes
import OAuthClient
import Testing
import TokenVaultHTTP

@testable import VaultControl

/// What `--verbose` shows on standard error: each request to a provider with its answer, and nothing secret.
struct VerboseTests {
    private static func refusal(_ status: Int, _ members: String) -> Fault {
        .status(status, headers: ["Content-Type": "application/json"], body: members)
    }

    private static func lines(_ result: RunResult, _ prefix: String) -> [String] {
        result.error.split(separator: "\n").map(String.init).filter { $0.hasPrefix(prefix) }
    }

    @Test func eachRequestIsShownWithItsAnswer() async throws {
        try await World.with { world in
            try await world.logIn("alice")
            let good = try await world.ok("login", "refresh", "--user", "alice", "--verbose")
            let request = "vaultctl: request: POST \(world.server.issuer)/token ("
            let line = try #require(Self.lines(good, request).first)
            #expect(line.hasSuffix(" ms): 200"))
            #expect(good.error.contains("vaultctl: debug: renewal ended ("))
            let words = #"{"error":"temporarily_unavailable","error_description":"back\u001b[2J\nat \u202eten"}"#
            world.server.faults.add(Self.refusal(503, words))
            let bad = try await world.harness.run("login", "refresh", "--user", "alice", "-v")
            #expect(bad.status == 9)
            let refused = Self.lines(bad, request)
            #expect(refused.count == 1)
            #expect(refused.first?.hasSuffix(" ms): 503 temporarily_unavailable: back[2Jat ten") == true, "\(refused)")
            let quiet = try await world.harness.run("login", "show", "--user", "alice")
            #expect(!quiet.error.contains("request:"))
        }
    }

    @Test func withJSONEachIsAnObjectOnALineOfItsOwn() async throws {
        try await World.with { world in
            try await world.logIn("alice")
            world.server.faults.add(
                Self.refusal(400, #"{"error":"invalid_request","error_description":"no \"such\" thing"}"#))
            let result = try await world.harness.run("login", "refresh", "--user", "alice", "--json", "--verbose")
            #expect(result.status == 9)
            #expect(try result.json["error"] != nil)
            let objects = try Self.lines(result, "{").map {
                try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
            }
            let request = try #require(objects.compactMap { $0["request"] as? [String: Any] }.first)
            #expect(request["method"] as? String == "POST")
            #expect(request["url"] as? String == "\(world.server.issuer)/token")
            #expect(request["status"] as? Int == 400)
            #expect(request["error"] as? String == "invalid_request")
            #expect(request["errorDescription"] as? String == "no \"such\" thing")
            #expect(request["failure"] is NSNull)
            #expect((request["milliseconds"] as? Int).map { $0 >= 0 } == true)
            let log = try #require(objects.compactMap { $0["log"] as? [String: Any] }.first)
            #expect(log["level"] as? String == "debug")
            #expect((log["metadata"] as? [String: String])?["vault-login-handle"]?.isEmpty == false)
        }
    }

    /// No query, and a reason in place of the answer that did not come.
    @Test(arguments: [false, true])
    func aRequestWithoutAnAnswerIsShownToo(_ isJSON: Bool) async throws {
        let harness = try Harness()
        let error = try await harness.output { console in
            let transport = ProviderTransport(
                AsyncHTTPTransport(options: .init(allowsInsecureLoopback: true)),
                Invocation(console: console, isJSON: isJSON, isQuiet: false, isVerbose: true))
            let request = HTTPRequest(
                method: .post, scheme: "http", authority: "127.0.0.1:1", path: "/token?key=CANARY-query")
            await #expect(throws: HTTPTransportError.self) {
                try await transport.send(request, body: Array("code=CANARY-code".utf8), limits: .tokenEndpoint)
            }
            await transport.shutdown()
        }
        #expect(!error.contains("CANARY"))
        let failure = "the connection was refused or failed, nothing was sent"
        if isJSON {
            #expect(error.hasPrefix(#"{"request":{"method":"POST","url":"http://127.0.0.1:1/token","status":null,"#))
            #expect(error.contains(#""failure":"\#(failure)""#))
        } else {
            #expect(error.hasPrefix("vaultctl: request: POST http://127.0.0.1:1/token ("))
            #expect(error.hasSuffix(" ms): \(failure)\n"))
        }
    }

    /// However the provider puts it: nothing that was sent comes back.
    @Test func whatWasSentIsNotInTheAnswer() throws {
        var request = HTTPRequest(method: .post, scheme: "https", authority: "a.example", path: "/token")
        let credentials = Data("app%3A1:p%40ss".utf8).base64EncodedString()
        request.headerFields[.authorization] = "Basic \(credentials)"
        let said = "app p%40ss p@ss \(credentials) code hunter2 read c0de"
        var response = HTTPResponse(status: .badRequest)
        response.headerFields[.contentType] = "application/json"
        let reply = HTTPReply(
            response: response, body: Array(#"{"error":"hunter2","error_description":"\#(said)"}"#.utf8))
        let body = Array("grant_type=code&scope=read&code=c0de&client_secret=hunter2".utf8)
        let answer = ProviderAnswer(reply, to: request, body: body)
        #expect(answer.words == "400 [hidden]: app [hidden] [hidden] [hidden] code [hidden] read [hidden]")
        #expect(answer.errorWord == "[hidden]")
    }

    @Test func verboseAndQuietContradictEachOther() async throws {
        let result = try await Harness().run("status", "--quiet", "--verbose")
        #expect(result.status == 1)
        #expect(result.error.contains("--quiet and --verbose cannot be combined"))
    }

    /// As scripts meet it.
    @Test func theProgramShowsRequests() async throws {
        try await World.with { world in
            try await world.logIn("alice")
            world.server.faults.add(Self.refusal(429, #"{"error":"slow_down","error_description":"once an hour"}"#))
            let result = try await Program(harness: world.harness).shell(
                #""$vaultctl" login refresh --user alice --verbose"#)
            #expect(result.status == 9)
            let line = try #require(Self.lines(result, "vaultctl: request: ").first, "\(result.error)")
            #expect(line.hasPrefix("vaultctl: request: POST \(world.server.issuer)/token ("))
            #expect(line.hasSuffix(" ms): 429 slow_down: once an hour"))
        }
    }
}
