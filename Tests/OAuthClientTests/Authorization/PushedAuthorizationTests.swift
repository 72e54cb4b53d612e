import HTTPTypes
import OAuthClient
import Testing

struct PushedAuthorizationTests {
    private func request() throws -> AuthorizationURL {
        AuthorizationURL(
            endpoint: try EndpointURL("https://server.example.com/authorize"), clientID: try ClientID("client"),
            state: try AuthorizationState("state-CANARY"), codeChallenge: CodeVerifier.random().challenge,
            redirectURI: "https://app.example.com/cb", scope: try Scope("a b"),
            extraParameters: [FormParameter("request_uri", "mine"), FormParameter("audience", "x")])
    }

    private func endpoint(_ binding: ServerBinding, _ transport: ScriptedTransport) throws
        -> PushedAuthorizationEndpoint
    {
        PushedAuthorizationEndpoint(
            endpoint: try EndpointURL("https://server.example.com/par"), binding: binding, transport: transport,
            now: { Sample.start })
    }

    private let accepted = reply(201, #"{"request_uri":"urn:example:request:1","expires_in":60}"#)

    @Test func theBrowserCarriesOnlyANameForTheRequest() async throws {
        let transport = ScriptedTransport(accepted)
        let binding = try Sample.binding(.clientSecretBasic(try ClientSecret("s")))
        let attempt = try await endpoint(binding, transport).push(try request())
        guard case .accepted(let pushed) = attempt.outcome else {
            Issue.record("the request was not accepted")
            return
        }
        #expect(pushed.expiresIn == .seconds(60))
        let sent = try #require(transport.sent.first)
        #expect(sent.request.path == "/par" && sent.request.method == .post)
        #expect(sent.request.headerFields[.authorization]?.hasPrefix("Basic ") == true)
        #expect(sent.form["client_id"] == "client" && sent.form["state"] == "state-CANARY")
        #expect(sent.form["code_challenge_method"] == "S256" && sent.form["audience"] == "x")
        #expect(sent.form["request_uri"] == nil)
        let url = try request().reveal(pushed)
        #expect(
            url == "https://server.example.com/authorize?client_id=client&request_uri=urn%3Aexample%3Arequest%3A1")
    }

    @Test func aNonceIsTakenAndAnsweredOnce() async throws {
        let wants = reply(400, Sample.error("use_dpop_nonce"), [("DPoP-Nonce", "n-1")])
        let transport = ScriptedTransport(wants, accepted)
        let attempt = try await endpoint(try Sample.binding(), transport).push(
            try request(), dpop: DPoPContext(key: .generate()))
        #expect(attempt.requestsSent == 2)
        #expect(attempt.nonces["https://server.example.com"]?.rawValue == "n-1")
        let loop = ScriptedTransport(wants, wants, wants)
        #expect(
            try await endpoint(try Sample.binding(), loop).push(try request(), dpop: DPoPContext(key: .generate()))
                .requestsSent == 2)
    }

    @Test func theSecondSecretIsTriedHere() async throws {
        var binding = try Sample.binding(.clientSecretPost(try ClientSecret("old")))
        binding.alternatives = [.clientSecretPost(try ClientSecret("new"))]
        let transport = ScriptedTransport(reply(401, Sample.error("invalid_client")), accepted)
        let attempt = try await endpoint(binding, transport).push(try request())
        #expect(transport.sent.map { $0.form["client_secret"] } == ["old", "new"])
        #expect(attempt.refusedSecrets == 1)
    }

    @Test(arguments: [
        (reply(400, Sample.error("invalid_request")), "refused"), (reply(503, ""), "failed"),
        (reply(201, "{}"), "failed"), (reply(302, ""), "failed"), (reply(429, Sample.error("slow_down")), "failed"),
    ])
    func everythingElseIsNoRequest(answer: HTTPReply, expected: String) async throws {
        let attempt = try await endpoint(try Sample.binding(), ScriptedTransport(answer)).push(try request())
        switch attempt.outcome {
        case .accepted: Issue.record("accepted")
        case .refused: #expect(expected == "refused")
        case .failed: #expect(expected == "failed")
        }
    }
}

struct RevocationStyleTests {
    private func revoke(
        _ profile: String, _ answer: HTTPReply
    ) async throws -> (RevocationOutcome, ScriptedTransport.Sent) {
        let binding = ServerBinding(
            profile: try .named(profile), tokenEndpoint: try Sample.endpoint(), clientID: try ClientID("client"),
            authentication: .clientSecretPost(try ClientSecret("secret")))
        let transport = ScriptedTransport(answer)
        let endpoint = RevocationEndpoint(
            endpoint: try EndpointURL("https://api.example.com/revoke"), binding: binding, transport: transport,
            now: { Sample.start })
        let attempt = await endpoint.revoke(.access(try AccessToken("access-CANARY")))
        return (attempt.outcome, try #require(transport.sent.first))
    }

    @Test func gitHubTakesADeleteWithJSONAndBasic() async throws {
        let (outcome, sent) = try await revoke("github", reply(204))
        #expect(outcome == .revoked)
        #expect(sent.request.method == .delete)
        #expect(sent.request.headerFields[.authorization]?.hasPrefix("Basic ") == true)
        #expect(String(decoding: sent.body, as: UTF8.self) == #"{"access_token":"access-CANARY"}"#)
        #expect(try await revoke("github", reply(200)).0 == .tryLater(retryAfter: nil))
    }

    @Test func slackTakesTheTokenAsBearerAndAnswersInTheBody() async throws {
        let (outcome, sent) = try await revoke("slack", reply(200, #"{"ok":true,"revoked":true}"#))
        #expect(outcome == .revoked)
        #expect(sent.request.headerFields[.authorization] == "Bearer access-CANARY")
        #expect(sent.body.isEmpty)
        #expect(try await revoke("slack", reply(200, #"{"ok":false,"error":"token_revoked"}"#)).0 == .revoked)
        #expect(
            try await revoke("slack", reply(200, #"{"ok":false,"error":"ratelimited"}"#)).0
                == .tryLater(retryAfter: nil))
        #expect(try await revoke("slack", reply(200, "<html>")).0 == .tryLater(retryAfter: nil))
    }

    @Test func googleNeedsNoClient() async throws {
        let (outcome, sent) = try await revoke("google", reply(200, "{}"))
        #expect(outcome == .revoked)
        #expect(sent.form == ["token": "access-CANARY"])
    }
}
